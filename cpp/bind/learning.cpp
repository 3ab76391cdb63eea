// Python bindings of network learning.
#include <nanobind/nanobind.h>

#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/junction.hpp"
#include "bind/network.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "network/exact_search.hpp"
#include "network/expected_counts.hpp"
#include "network/family_changes.hpp"
#include "network/family_counts.hpp"
#include "network/family_score.hpp"
#include "network/g_test.hpp"

namespace bayesbox {
namespace {

// Columns of codes, held open.
class PyCodeTable {
 public:
  static constexpr std::int64_t kMostCells = std::int64_t{1} << 26;     // of one dense table
  static constexpr std::int64_t kMostTogether = std::int64_t{1} << 22;  // of the tables of one walk

  PyCodeTable(const PyCodeTable&) = delete;
  PyCodeTable& operator=(const PyCodeTable&) = delete;
  PyCodeTable(nb::list columns, nb::handle sizes) {
    const std::vector<std::int64_t> given = Buffer(sizes, "sizes").integers();
    if (given.size() != columns.size()) throw nb::value_error("sizes: one a column");
    for (std::size_t j = 0; j < columns.size(); ++j) {
      Buffer& buffer = buffers_.emplace_back(nb::handle(columns[j]), "codes");
      const Column column = buffer.column();
      if (j > 0 && column.rows != rows_) buffer.refuse("the columns differ in length");
      rows_ = column.rows;
      CodeColumn codes;
      codes.size = given[j];
      const bool narrow = column.kind == Kind::uint8;
      if (!narrow && column.kind != Kind::uint16) buffer.refuse_type("must be of type uint8 or uint16");
      if (rows_ > 1 && column.stride != (narrow ? 1 : 2)) buffer.refuse("not contiguous");
      if (codes.size < 1 || codes.size > 65536) buffer.refuse("a column has 1 to 65,536 states");
      if (narrow)
        codes.bytes = reinterpret_cast<const std::uint8_t*>(column.data);
      else
        codes.words = reinterpret_cast<const std::uint16_t*>(column.data);
      std::uint32_t most = 0;
      for (std::size_t i = 0; i < rows_; ++i) most = std::max(most, codes.at(i));
      if (rows_ > 0 && most >= codes.size) buffer.refuse("no such state");
      columns_.push_back(codes);
    }
    if (rows_ > std::numeric_limits<std::uint32_t>::max()) throw nb::value_error("codes: too many rows");
  }

  std::size_t rows() const { return rows_; }
  const std::vector<CodeColumn>& columns() const { return columns_; }

  std::vector<Members> families(nb::handle members, nb::handle ends) const {
    std::vector<Members> made;
    for (const Scope& scope : scopes_of(members, ends, columns_.size())) {
      if (scope.empty()) throw nb::value_error("members: an empty set");
      made.emplace_back(scope.begin(), scope.end());
    }
    return made;
  }
  bool is_dense(std::int64_t cells) const {
    return cells <= std::min(kMostCells, std::max(std::int64_t{1} << 16, 8 * static_cast<std::int64_t>(rows_)));
  }

  // Created on first use: it has joined columns.
  const FamilyChanges& changes() const {
    std::call_once(joined_, [&] { changes_ = std::make_unique<FamilyChanges>(columns_, rows_); });
    return *changes_;
  }

  // Passes each dense table to `use`, in several passes of a limited number of cells.
  template <class Use>
  void each_table(const std::vector<Members>& families, const std::vector<std::size_t>& dense, const Use& use) const {
    const FamilyCounter counter(columns_, rows_);
    for (std::size_t begin = 0; begin < dense.size();) {
      std::vector<Members> some;
      std::int64_t together = 0;
      std::size_t end = begin;
      while (end < dense.size()) {
        const std::int64_t cells = cells_of(columns_, families[dense[end]]);
        if (!some.empty() && together + cells > kMostTogether) break;
        together += cells;
        some.push_back(families[dense[end++]]);
      }
      std::vector<std::vector<std::uint32_t>> tables = counter.count(some);
      for (std::size_t i = 0; i < some.size(); ++i) use(dense[begin + i], tables[i]);
      begin = end;
    }
  }

 private:
  std::vector<Buffer> buffers_;
  std::vector<CodeColumn> columns_;
  std::size_t rows_ = 0;
  mutable std::once_flag joined_;
  mutable std::unique_ptr<const FamilyChanges> changes_;
};

nb::list count_families(const PyCodeTable& self, nb::handle members, nb::handle ends) {
  const std::vector<Members> families = self.families(members, ends);
  std::vector<std::size_t> all(families.size());
  for (std::size_t f = 0; f < families.size(); ++f) {
    all[f] = f;
    if (cells_of(self.columns(), families[f]) > PyCodeTable::kMostCells) throw nb::value_error("members: too many cells");
  }
  std::vector<std::vector<std::int64_t>> counts(families.size());
  {
    LongCall call;
    self.each_table(families, all, [&](std::size_t f, const std::vector<std::uint32_t>& table) {
      counts[f].assign(table.begin(), table.end());
    });
  }
  nb::list made;
  for (std::vector<std::int64_t>& table : counts) {
    const std::size_t cells = table.size();
    made.append(to_numpy(std::move(table), {cells}));
  }
  return made;
}

// The score of the member `child[i]` of the set `of[i]`, given the others of the set.
nb::object score_families(const PyCodeTable& self, nb::handle members, nb::handle ends, nb::handle of,
                          nb::handle child, const FamilyScore& score) {
  const std::vector<Members> families = self.families(members, ends);
  const std::vector<std::int64_t> sets = Buffer(of, "of").integers(), places = Buffer(child, "child").integers();
  if (sets.size() != places.size()) throw nb::value_error("child: one for each entry of `of`");
  std::vector<std::vector<std::size_t>> wanted(families.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i] < 0 || sets[i] >= static_cast<std::int64_t>(families.size())) throw nb::value_error("of: no such set");
    const auto set = static_cast<std::size_t>(sets[i]);
    if (places[i] < 0 || places[i] >= static_cast<std::int64_t>(families[set].size()))
      throw nb::value_error("child: no such member");
    wanted[set].push_back(i);
  }
  std::vector<double> found(sets.size());
  {
    LongCall call;
    const std::vector<CodeColumn>& columns = self.columns();
    std::vector<std::size_t> dense;
    for (std::size_t f = 0; f < families.size(); ++f) {
      const std::int64_t cells = cells_of(columns, families[f]);
      if (self.is_dense(cells)) {
        dense.push_back(f);
        continue;
      }
      for (const std::size_t i : wanted[f]) {
        if (cells == std::numeric_limits<std::int64_t>::max()) {
          found[i] = -std::numeric_limits<double>::infinity();
          continue;
        }
        Members ordered = families[f];
        std::swap(ordered[static_cast<std::size_t>(places[i])], ordered.back());
        const auto states = static_cast<std::uint64_t>(columns[ordered.back()].size);
        std::vector<std::uint64_t> rows = FamilyCounter(columns, self.rows()).places(ordered);
        found[i] = score.sparse(rows, static_cast<double>(cells) / static_cast<double>(states), states);
      }
    }
    self.each_table(families, dense, [&](std::size_t f, const std::vector<std::uint32_t>& table) {
      for (const std::size_t i : wanted[f]) {
        std::int64_t before = 1, after = 1;
        for (std::size_t k = 0; k < families[f].size(); ++k) {
          if (static_cast<std::int64_t>(k) < places[i]) before *= columns[families[f][k]].size;
          if (static_cast<std::int64_t>(k) > places[i]) after *= columns[families[f][k]].size;
        }
        const std::int64_t states = columns[families[f][static_cast<std::size_t>(places[i])]].size;
        found[i] = score.dense(table.data(), before, states, after);
      }
    });
  }
  const std::size_t count = found.size();
  return to_numpy(std::move(found), {count});
}

Members members_of(const PyCodeTable& table, nb::handle given, const char* what) {
  Members made;
  for (const std::int64_t each : Buffer(given, what).integers()) {
    if (each < 0 || each >= static_cast<std::int64_t>(table.columns().size())) throw nb::value_error("no such column");
    made.push_back(static_cast<std::uint32_t>(each));
  }
  return made;
}

// (the score of a family, its scores with each candidate added or, if it is a parent, removed); None if the tables
// would be too large.
nb::object score_changes(const PyCodeTable& self, std::int64_t child, nb::handle parents, nb::handle candidates,
                         const FamilyScore& score) {
  const Members above = members_of(self, parents, "parents"), some = members_of(self, candidates, "candidates");
  if (child < 0 || child >= static_cast<std::int64_t>(self.columns().size())) throw nb::value_error("child: no such column");
  const auto node = static_cast<std::uint32_t>(child);
  Members all = above;
  all.push_back(node);
  std::sort(all.begin(), all.end());
  Members each = some;
  std::sort(each.begin(), each.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end() || std::adjacent_find(each.begin(), each.end()) != each.end() ||
      std::binary_search(each.begin(), each.end(), node))
    throw nb::value_error("a column is there twice");
  std::vector<double> changed(some.size());
  double own = 0;
  bool fits = false;
  {
    LongCall call;
    const FamilyChanges& changes = self.changes();
    fits = changes.fits(node, above, some);
    if (fits) own = changes.scores(node, above, some, score, changed.data());
  }
  if (!fits) return nb::none();
  return nb::make_tuple(own, to_numpy(std::move(changed)));
}

// The score of one axis of a given table.
double score_table(const FamilyScore& self, nb::handle table, std::int64_t before, std::int64_t states,
                   std::int64_t after) {
  const Buffer buffer(table, "table");
  if (before < 1 || states < 1 || after < 1) throw nb::value_error("a table has no empty axis");
  buffer.need_dimensions(1).need_length(0, static_cast<std::size_t>(before * states * after));
  const std::vector<std::int64_t> counts = buffer.integers();
  for (const std::int64_t n : counts)
    if (n < 0) throw nb::value_error("table: a count below zero");
  LongCall call;
  return self.dense(counts.data(), before, states, after);
}

// G and the degrees of freedom of the first two members of each set, given the rest.
nb::tuple g_tests(const PyCodeTable& self, nb::handle members, nb::handle ends) {
  const std::vector<Members> families = self.families(members, ends);
  std::vector<std::size_t> all(families.size());
  for (std::size_t f = 0; f < families.size(); ++f) {
    all[f] = f;
    if (families[f].size() < 2) throw nb::value_error("members: a test is of two columns");
    if (cells_of(self.columns(), families[f]) > PyCodeTable::kMostCells) throw nb::value_error("members: too many cells");
  }
  std::vector<double> statistic(families.size()), degrees(families.size());
  {
    LongCall call;
    self.each_table(families, all, [&](std::size_t f, const std::vector<std::uint32_t>& table) {
      const std::int64_t first = self.columns()[families[f][0]].size, second = self.columns()[families[f][1]].size;
      const GTest test =
          g_test(table.data(), first, second, static_cast<std::int64_t>(table.size()) / (first * second));
      statistic[f] = test.statistic;
      degrees[f] = test.degrees;
    });
  }
  const std::size_t count = families.size();
  return nb::make_tuple(to_numpy(std::move(statistic), {count}), to_numpy(std::move(degrees), {count}));
}

ScoreKind score_kind(int kind) {
  if (kind < 0 || kind > 2) throw nb::value_error("kind: no such score");
  return static_cast<ScoreKind>(kind);
}

// For each column the bits of its parents; an empty array if no network satisfies the rules.
nb::object exact_search(const PyCodeTable& self, int kind, double parameter, std::int64_t most_parents,
                        nb::handle required, nb::handle forbidden) {
  const std::size_t count = self.columns().size();
  if (count < 1 || count > 24) throw nb::value_error("columns: 1 to 24");
  ExactTask task;
  task.kind = score_kind(kind);
  task.parameter = parameter;
  task.most_parents = static_cast<std::size_t>(std::max<std::int64_t>(most_parents, 0));
  const std::vector<std::int64_t> must = Buffer(required, "required").integers();
  const std::vector<std::int64_t> never = Buffer(forbidden, "forbidden").integers();
  if (must.size() != count || never.size() != count) throw nb::value_error("required, forbidden: one a column");
  for (const std::vector<std::int64_t>* bits : {&must, &never})
    for (const std::int64_t each : *bits)
      if (each < 0 || each >> count != 0) throw nb::value_error("required, forbidden: no such column");
  task.required.assign(must.begin(), must.end());
  task.forbidden.assign(never.begin(), never.end());
  std::vector<std::int64_t> parents;
  {
    LongCall call;
    const std::vector<Bits> best = ExactSearch(self.columns(), self.rows(), task).best();
    parents.assign(best.begin(), best.end());
  }
  const std::size_t size = parents.size();
  return to_numpy(std::move(parents), {size});
}

// Rows of states as one block, negative for missing values.
std::vector<std::int32_t> rows_with_holes(const PyJunctionTree& tree, nb::handle states, std::size_t& rows) {
  if (tree.tree->log2_cells() > tree.log2_limit) throw nb::value_error("the tables are larger than the limit");
  const Buffer buffer(states, "states");
  const std::size_t variables = tree.model->cards.size();
  buffer.need_dimensions(2).need_length(1, variables).need_kind(Kind::int32, "int32");
  rows = buffer.length(0);
  std::vector<std::int32_t> cells(rows * variables);
  for (std::size_t r = 0; r < rows; ++r) {
    const Column row = buffer.row(r);
    for (std::size_t v = 0; v < variables; ++v) {
      const auto state = load<std::int32_t>(row.at(v));
      if (state >= tree.model->cards[v] || (state < 0 && tree.observed[v])) buffer.refuse("no such state");
      cells[r * variables + v] = state;
    }
  }
  return cells;
}

// (expected counts of the cells of all tables, concatenated; log P(row) of each row)
nb::tuple py_expected_counts(const PyJunctionTree& tree, nb::handle states, nb::handle weights) {
  std::size_t rows = 0;
  const std::vector<std::int32_t> cells = rows_with_holes(tree, states, rows);
  const Buffer given(weights, "weights");
  const std::vector<double> worth =
      given.need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, rows).doubles();
  std::vector<double> counts(tree.model->cells.size(), 0.0), log_evidence(rows);
  {
    LongCall call;
    ExpectedCounts expected(*tree.tree);
    const std::size_t variables = tree.model->cards.size();
    for (std::size_t r = 0; r < rows; ++r)
      log_evidence[r] = expected.add(cells.data() + r * variables, worth[r], counts.data());
  }
  const std::size_t size = counts.size();
  return nb::make_tuple(to_numpy(std::move(counts), {size}), to_numpy(std::move(log_evidence), {rows}));
}

// The rows with missing values sampled; a row depends only on the seed and its number. Impossible rows keep them.
nb::object py_fill_holes(const PyJunctionTree& tree, nb::handle states, std::uint64_t seed,
                         std::uint64_t first_row) {
  std::size_t rows = 0;
  const std::vector<std::int32_t> cells = rows_with_holes(tree, states, rows);
  std::vector<std::int32_t> filled = cells;
  const std::size_t variables = tree.model->cards.size();
  {
    LongCall call;
    ExpectedCounts expected(*tree.tree);
    const auto mixed = [](std::uint64_t x) {  // the finaliser of splitmix64
      x += 0x9E3779B97F4A7C15u;
      x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
      x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
      return x ^ (x >> 31);
    };
    for (std::size_t r = 0; r < rows; ++r) {
      std::uint64_t state = mixed(mixed(seed) ^ (first_row + r));
      expected.fill(cells.data() + r * variables, filled.data() + r * variables, [&] {
        state += 0x9E3779B97F4A7C15u;
        return static_cast<double>(mixed(state) >> 11) * 0x1p-53;
      });
    }
  }
  return to_numpy(std::move(filled), {rows, variables});
}

}  // namespace

void register_learning(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<FamilyScore>(m, "FamilyScore")
      .def("__init__",
           [](FamilyScore* self, int kind, double parameter, double scale, std::int64_t rows) {
             if (rows < 0) throw nb::value_error("rows: negative");
             new (self) FamilyScore(score_kind(kind), parameter, scale, static_cast<std::size_t>(rows));
           },
           "kind"_a, "parameter"_a, "scale"_a, "rows"_a)
      .def("table", &score_table, "table"_a, "before"_a, "states"_a, "after"_a);
  m.def("expected_counts", &py_expected_counts, "tree"_a, "states"_a, "weights"_a);
  m.def("fill_holes", &py_fill_holes, "tree"_a, "states"_a, "seed"_a, "first_row"_a = 0);
  nb::class_<PyCodeTable>(m, "CodeTable")
      .def(nb::init<nb::list, nb::handle>(), "columns"_a, "sizes"_a)
      .def_prop_ro("rows", &PyCodeTable::rows)
      .def("count", &count_families, "members"_a, "ends"_a)
      .def("score", &score_families, "members"_a, "ends"_a, "of"_a, "child"_a, "score"_a)
      .def("changes", &score_changes, "child"_a, "parents"_a, "candidates"_a, "score"_a)
      .def("g_tests", &g_tests, "members"_a, "ends"_a)
      .def("exact", &exact_search, "kind"_a, "parameter"_a, "most_parents"_a, "required"_a, "forbidden"_a);
}

}  // namespace bayesbox
