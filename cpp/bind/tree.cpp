// Python bindings of forests.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "tree/boosting.hpp"
#include "tree/forest.hpp"

namespace bayesbox {
namespace {

using CodeArray = nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Square = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> values_of(const Line<T>& line) {
  return std::vector<T>(line.data(), line.data() + line.size());
}

// A forest and how it was grown, which determines the rows of each tree.
struct GrownForest {
  Forest forest;
  ForestOptions options;

  CodedColumns rows(const CodeArray& codes) const {
    if (codes.shape(0) != forest.words_of.size()) throw nb::value_error("codes: another number of columns");
    return {codes.data(), codes.shape(1), codes.shape(0)};
  }
  void require_counts(const Square<std::int64_t>& counts) const {
    if (counts.shape(0) != forest.nodes() || counts.shape(1) == 0) throw nb::value_error("counts: not those of the nodes");
  }
  static void require_target(const Line<std::int32_t>& target, std::size_t rows, std::size_t classes) {
    if (target.size() != rows) throw nb::value_error("target: another number of rows");
    for (std::size_t i = 0; i < rows; ++i)
      if (target.data()[i] < 0 || static_cast<std::size_t>(target.data()[i]) >= classes)
        throw nb::value_error("target: no such class");
  }
};

// The number of codes of each column, with every code below it.
std::vector<std::size_t> checked_levels(const CodedColumns& rows, const Line<std::int64_t>& levels,
                                        const Line<std::uint8_t>& ordered) {
  if (levels.size() != rows.columns || ordered.size() != rows.columns) throw nb::value_error("levels: not one a column");
  std::vector<std::size_t> sizes;
  for (std::size_t j = 0; j < rows.columns; ++j) {
    if (levels.data()[j] < 0 || levels.data()[j] > kMissingCode) throw nb::value_error("levels: from 0 to 65535");
    sizes.push_back(static_cast<std::size_t>(levels.data()[j]));
    for (std::size_t i = 0; i < rows.rows; ++i)
      if (rows.at(i, j) != kMissingCode && rows.at(i, j) >= sizes[j]) throw nb::value_error("codes: beyond the levels");
  }
  return sizes;
}

GrownForest py_grow(const CodeArray& codes, const Line<std::int32_t>& target, std::size_t classes,
                    const Line<std::int64_t>& levels, const Line<std::uint8_t>& ordered, std::size_t trees,
                    std::size_t tried, std::size_t sample, bool drawn, std::uint64_t seed) {
  const CodedColumns rows{codes.data(), codes.shape(1), codes.shape(0)};
  const std::vector<std::size_t> sizes = checked_levels(rows, levels, ordered);
  GrownForest::require_target(target, rows.rows, classes);
  GrownForest grown;
  grown.options = {trees, tried, sample, 2, drawn, seed};
  const std::vector<std::uint8_t> lines = values_of(ordered);
  LongCall call;
  grown.forest = ForestGrower(rows, target.data(), classes, sizes, lines, grown.options).grow();
  return grown;
}

nb::tuple py_boost(const CodeArray& codes, const Line<std::int32_t>& target, const Line<double>& start,
                   const Line<std::int64_t>& levels, const Line<std::uint8_t>& ordered, std::size_t rounds,
                   std::size_t leaves, double rate, double pull, double share, std::uint64_t seed) {
  const CodedColumns rows{codes.data(), codes.shape(1), codes.shape(0)};
  const std::size_t classes = start.size();
  const std::vector<std::size_t> sizes = checked_levels(rows, levels, ordered);
  GrownForest::require_target(target, rows.rows, classes);
  if (classes < 2 || rows.rows == 0) throw nb::value_error("start: there are two classes or more, and a row");
  BoostOptions options;
  options.rounds = rounds, options.leaves = leaves, options.rate = rate;
  options.pull = pull, options.share = share, options.seed = seed;
  const std::vector<std::uint8_t> lines = values_of(ordered);
  GrownForest grown;
  std::vector<double> values;
  {
    LongCall call;
    BoostGrower(rows, target.data(), classes, sizes, lines, start.data(), options).grow(grown.forest, values);
  }
  const std::size_t nodes = grown.forest.nodes();
  return nb::make_tuple(std::move(grown), to_numpy(std::move(values), {nodes, classes}));
}

// (sums, losses): log P(class | x) up to a constant a row, and the log loss of all rows after each tree.
nb::tuple py_forest_sum(const GrownForest& grown, const CodeArray& codes, const Line<std::int32_t>& target,
                        const Square<double>& values, const Line<double>& start) {
  const CodedColumns rows = grown.rows(codes);
  const std::size_t classes = start.size();
  if (values.shape(0) != grown.forest.nodes() || values.shape(1) != classes)
    throw nb::value_error("values: not those of the nodes");
  GrownForest::require_target(target, rows.rows, classes);
  std::vector<double> sum(rows.rows * classes), losses;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = start.data()[i % classes];
  {
    LongCall call;
    losses = losses_by_round(grown.forest, values.data(), rows, target.data(), classes, sum.data());
  }
  const std::size_t rounds = losses.size();
  return nb::make_tuple(to_numpy(std::move(sum), {rows.rows, classes}), to_numpy(std::move(losses), {rounds}));
}

nb::object py_forest_ask_values(const GrownForest& grown, const CodeArray& codes, const Square<double>& values) {
  const CodedColumns rows = grown.rows(codes);
  const std::size_t classes = values.shape(1);
  if (values.shape(0) != grown.forest.nodes()) throw nb::value_error("values: not those of the nodes");
  std::vector<double> sum(rows.rows * classes);
  {
    LongCall call;
    ask_forest(grown.forest, rows, values.data(), classes, sum.data());
  }
  return to_numpy(std::move(sum), {rows.rows, classes});
}

// The distributions of the nodes, nodes x classes, for repeated queries.
nb::object py_forest_table(const GrownForest& grown, const Square<std::int64_t>& counts, double weight) {
  grown.require_counts(counts);
  const std::size_t classes = counts.shape(1);
  std::vector<double> table;
  {
    LongCall call;
    table = forest_table(grown.forest, counts.data(), classes, weight);
  }
  return to_numpy(std::move(table), {grown.forest.nodes(), classes});
}

nb::object py_forest_count(const GrownForest& grown, const CodeArray& codes, const Line<std::int32_t>& target,
                           std::size_t classes) {
  const CodedColumns rows = grown.rows(codes);
  GrownForest::require_target(target, rows.rows, classes);
  std::vector<std::int64_t> counts(grown.forest.nodes() * classes);
  {
    LongCall call;
    count_in_forest(grown.forest, rows, target.data(), classes, counts.data());
  }
  return to_numpy(std::move(counts), {grown.forest.nodes(), classes});
}

nb::object py_forest_ask(const GrownForest& grown, const CodeArray& codes, const Square<std::int64_t>& counts,
                         double weight) {
  const CodedColumns rows = grown.rows(codes);
  grown.require_counts(counts);
  const std::size_t classes = counts.shape(1);
  std::vector<double> sum(rows.rows * classes);
  {
    LongCall call;
    const std::vector<double> table = forest_table(grown.forest, counts.data(), classes, weight);
    ask_forest(grown.forest, rows, table.data(), classes, sum.data());
  }
  return to_numpy(std::move(sum), {rows.rows, classes});
}

nb::tuple py_forest_ask_without(const GrownForest& grown, const CodeArray& codes,
                                const Line<std::int32_t>& target, const Square<std::int64_t>& counts,
                                double weight) {
  const CodedColumns rows = grown.rows(codes);
  grown.require_counts(counts);
  const std::size_t classes = counts.shape(1);
  GrownForest::require_target(target, rows.rows, classes);
  std::vector<double> sum(rows.rows * classes);
  std::vector<std::int32_t> asked(rows.rows);
  {
    LongCall call;
    ask_forest_without(grown.forest, rows, target.data(), counts.data(), classes, weight, grown.options, sum.data(),
                       asked.data());
  }
  return nb::make_tuple(to_numpy(std::move(sum), {rows.rows, classes}), to_numpy(std::move(asked), {rows.rows}));
}

// A forest from untrusted arrays: every index must be valid, children after their parents, and no node may have two
// parents.
GrownForest py_forest_of(const Line<std::int64_t>& root, const Line<std::int64_t>& column,
                         const Line<std::int64_t>& threshold, const Line<std::int64_t>& child,
                         const Line<std::int64_t>& missing_left, const Line<std::int64_t>& words,
                         const Line<std::int64_t>& words_of) {
  GrownForest grown;
  Forest& forest = grown.forest;
  const std::int64_t nodes = static_cast<std::int64_t>(column.size());
  if (threshold.size() != column.size() || child.size() != column.size() || missing_left.size() != column.size())
    throw nb::value_error("the arrays of a forest have different lengths");
  const auto inside = [](std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < low || value >= high) throw nb::value_error("an index of a forest lies outside");
    return static_cast<std::int32_t>(value);
  };
  if (column.size() > std::size_t{1} << 30) throw nb::value_error("a forest has too many nodes");
  for (std::size_t i = 0; i < words.size(); ++i) forest.words.push_back(static_cast<std::uint64_t>(words.data()[i]));
  for (std::size_t i = 0; i < words_of.size(); ++i) forest.words_of.push_back(inside(words_of.data()[i], 0, 2048));
  for (std::size_t i = 0; i < root.size(); ++i) forest.root.push_back(inside(root.data()[i], 0, nodes));
  for (std::int64_t i = 0; i < nodes; ++i) {
    forest.column.push_back(inside(column.data()[i], -1, static_cast<std::int64_t>(forest.words_of.size())));
    forest.missing_left.push_back(static_cast<std::uint8_t>(inside(missing_left.data()[i], 0, 2)));
    if (forest.column.back() < 0) {
      forest.child.push_back(-1);
      forest.threshold.push_back(0);
      continue;
    }
    forest.child.push_back(inside(child.data()[i], i + 1, nodes - 1));
    const std::int32_t size = forest.words_of[static_cast<std::size_t>(forest.column.back())];
    const std::int64_t most = size ? static_cast<std::int64_t>(forest.words.size()) - size + 1 : 0x10000;
    forest.threshold.push_back(inside(threshold.data()[i], 0, most));
  }
  if (forest.root.empty() || !forest.is_of_trees())
    throw nb::value_error("the nodes of a forest are not those of trees: a node has two parents");
  return grown;
}

template <class T>
std::vector<std::int64_t> widened(const std::vector<T>& values) {
  std::vector<std::int64_t> wide;
  for (const T value : values) wide.push_back(static_cast<std::int64_t>(value));
  return wide;
}

nb::dict py_forest_arrays(const GrownForest& grown) {
  const Forest& forest = grown.forest;
  nb::dict arrays;
  const auto put = [&](const char* name, std::vector<std::int64_t>&& values) {
    const std::size_t size = values.size();
    arrays[name] = to_numpy(std::move(values), {size});
  };
  put("root", widened(forest.root));
  put("column", widened(forest.column));
  put("threshold", widened(forest.threshold));
  put("child", widened(forest.child));
  put("missing_left", widened(forest.missing_left));
  put("words", widened(forest.words));
  put("words_of", widened(forest.words_of));
  return arrays;
}

}  // namespace

void register_tree(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<GrownForest>(m, "Forest")
      .def_prop_ro("trees", [](const GrownForest& self) { return self.forest.root.size(); })
      .def_prop_ro("nodes", [](const GrownForest& self) { return self.forest.nodes(); })
      .def("count", &py_forest_count, "codes"_a, "target"_a, "classes"_a)
      .def("ask", &py_forest_ask, "codes"_a, "counts"_a, "weight"_a)
      .def("table", &py_forest_table, "counts"_a, "weight"_a)
      .def("ask_without", &py_forest_ask_without, "codes"_a, "target"_a, "counts"_a, "weight"_a)
      .def("ask_values", &py_forest_ask_values, "codes"_a, "values"_a)
      .def("sum_values", &py_forest_sum, "codes"_a, "target"_a, "values"_a, "start"_a)
      .def("arrays", &py_forest_arrays)
      .def_static("of", &py_forest_of, "root"_a, "column"_a, "threshold"_a, "child"_a, "missing_left"_a, "words"_a,
                  "words_of"_a);
  m.def("grow_forest", &py_grow, "codes"_a, "target"_a, "classes"_a, "levels"_a, "ordered"_a, "trees"_a, "tried"_a,
        "sample"_a, "drawn"_a, "seed"_a);
  m.def("boost_forest", &py_boost, "codes"_a, "target"_a, "start"_a, "levels"_a, "ordered"_a, "rounds"_a, "leaves"_a,
        "rate"_a, "pull"_a, "share"_a, "seed"_a);
}

}  // namespace bayesbox
