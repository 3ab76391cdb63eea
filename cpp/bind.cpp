// The Python face of the core: checks arguments, releases the GIL, hands arrays back. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "augmented_binding.hpp"
#include "buffer.hpp"
#include "chain_binding.hpp"
#include "count.hpp"
#include "cpu.hpp"
#include "cuts_binding.hpp"
#include "exact_array.hpp"
#include "exact_text.hpp"
#include "factorize.hpp"
#include "joint_binding.hpp"
#include "kernel_density_binding.hpp"
#include "forest_binding.hpp"
#include "leave_one_out.hpp"
#include "mail_binding.hpp"
#include "moments.hpp"
#include "network_module.hpp"
#include "result_array.hpp"
#include "score.hpp"
#include "sparse.hpp"
#include "text_binding.hpp"

namespace bayesbox {
namespace {

using namespace nb::literals;

// A number of cells or classes or levels from Python: not negative.
std::size_t as_size(std::int64_t value, const char* what) {
  if (value < 0) throw nb::value_error((std::string(what) + ": negative").c_str());
  return static_cast<std::size_t>(value);
}

// The product of two sizes, where that many numbers could be held at all.
std::size_t checked_product(std::size_t a, std::size_t b) {
  if (a != 0 && b > ExactArray::kMostLimbs / a) throw nb::value_error("the result does not fit in memory");
  return a * b;
}

// Columns held open for the length of a call.
class Columns {
 public:
  void push(nb::handle object, const char* what, std::size_t rows) {
    Buffer& buffer = buffers_.emplace_back(object, what);
    buffer.need_dimensions(1).need_length(0, rows);
    columns_.push_back(buffer.column());
  }
  const std::vector<Column>& list() const { return columns_; }
  const Buffer& last() const { return buffers_.back(); }

 private:
  std::vector<Buffer> buffers_;
  std::vector<Column> columns_;
};

Buffer target_of(nb::handle object) {
  Buffer target(object, "target");
  target.need_dimensions(1).need_kind(Kind::int32, "int32");
  return target;
}

std::optional<Buffer> weights_of(nb::handle object, std::size_t rows) {
  if (object.is_none()) return std::nullopt;
  std::optional<Buffer> weights(std::in_place, object, "weights");
  weights->need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, rows);
  const Column column = weights->column();
  for (std::size_t row = 0; row < rows; ++row)
    if (!std::isfinite(load<double>(column.at(row)))) weights->refuse("not finite");
  return weights;
}

void check_indices(const Buffer& buffer, const std::vector<std::int64_t>& index, std::size_t size, std::int64_t lowest) {
  for (const std::int64_t i : index)
    if (i < lowest || i >= static_cast<std::int64_t>(size)) buffer.refuse("outside the cells");
}

void add_to(ExactArray& self, const ExactArray& other, nb::handle index, int sign) {
  if (sign != 1 && sign != -1) throw nb::value_error("sign: must be 1 or -1");
  if (index.is_none()) {
    if (self.size() != other.size()) throw nb::value_error("add: the numbers of cells differ");
    self.merge(other, nullptr, sign);
    return;
  }
  const Buffer buffer(index, "index");
  const std::vector<std::int64_t> cells = buffer.integers();
  buffer.need_length(0, other.size());
  check_indices(buffer, cells, self.size(), 0);
  self.merge(other, cells.data(), sign);
}

ExactArray take(const ExactArray& self, nb::handle index) {
  const Buffer buffer(index, "index");
  const std::vector<std::int64_t> cells = buffer.integers();
  check_indices(buffer, cells, self.size(), -1);
  return self.take(cells.data(), cells.size());
}

ExactArray sum_groups(const ExactArray& self, nb::handle index, std::int64_t size) {
  ExactArray result(as_size(size, "size"));
  add_to(result, self, index, 1);
  return result;
}

nb::tuple parts(const ExactArray& self, std::int64_t cell) {
  if (cell < 0 || static_cast<std::size_t>(cell) >= self.size()) throw nb::index_error("no such cell");
  Magnitude number;
  self.magnitude(static_cast<std::size_t>(cell), number);
  nb::object mantissa = nb::int_(0);
  if (number.is_zero()) return nb::make_tuple(mantissa, 0);
  const std::ptrdiff_t length = number.highest_bit - number.lowest_bit + 1;
  for (std::ptrdiff_t at = (length - 1) / 32 * 32; at >= 0; at -= 32)
    mantissa = (mantissa << nb::int_(32)) | nb::int_(number.bits(number.lowest_bit + at, 32));
  return nb::make_tuple(number.negative ? -mantissa : mantissa, number.exponent());
}

nb::object to_integers(const ExactArray& self) {
  std::vector<std::int64_t> values(self.size());
  Magnitude scratch;
  for (std::size_t cell = 0; cell < values.size(); ++cell)
    if (!self.as_int64(cell, scratch, values[cell])) {
      PyErr_Format(PyExc_OverflowError, "cell %zu is no integer of 64 bits", cell);
      throw nb::python_error();
    }
  return to_numpy(std::move(values));
}

nb::object to_doubles(const ExactArray& self) {
  std::vector<double> values(self.size());
  Magnitude scratch;
  for (std::size_t cell = 0; cell < values.size(); ++cell) values[cell] = self.rounded(cell, scratch);
  return to_numpy(std::move(values));
}

nb::object signs(const ExactArray& self) {
  std::vector<std::int8_t> values(self.size());
  Magnitude scratch;
  for (std::size_t cell = 0; cell < values.size(); ++cell)
    values[cell] = static_cast<std::int8_t>(self.sign(cell, scratch));
  return to_numpy(std::move(values));
}

ExactArray from_integers(nb::handle object) {
  const std::vector<std::int64_t> values = Buffer(object, "values").need_kind(Kind::int64, "int64").integers();
  ExactArray result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result.add_integer(i, values[i]);
  return result;
}

ExactArray from_doubles(nb::handle object) {
  const Buffer buffer(object, "values");
  const std::vector<double> values = buffer.need_dimensions(1).need_kind(Kind::float64, "float64").doubles();
  ExactArray result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) buffer.refuse("not finite");
    result.add(i, values[i]);
  }
  return result;
}

nb::list py_moments(nb::list columns, nb::handle target, std::int64_t classes, nb::handle weights) {
  const Buffer labels = target_of(target);
  const Column label_column = labels.column();
  const std::size_t class_count = as_size(classes, "classes");
  Columns values;
  for (nb::handle object : columns) values.push(object, "columns", label_column.rows);
  checked_product(class_count, values.list().size());
  const std::optional<Buffer> weight_buffer = weights_of(weights, label_column.rows);
  const Column weight_column = weight_buffer ? weight_buffer->column() : Column{};
  std::vector<Moments> sums;
  std::optional<InfiniteValue> infinite;
  {
    nb::gil_scoped_release release;
    try {
      sums = moments(values.list(), label_column, class_count, weight_buffer ? &weight_column : nullptr);
    } catch (const InfiniteValue& found) {
      infinite = found;
    }
  }
  if (infinite) {
    PyErr_SetObject(PyExc_ValueError, nb::make_tuple("infinite", infinite->column, infinite->row).ptr());
    throw nb::python_error();
  }
  nb::list result;
  for (Moments& one : sums) result.append(nb::cast(std::move(one)));
  return result;
}

nb::object py_count_labels(nb::handle target, std::int64_t classes) {
  const Buffer labels = target_of(target);
  const std::size_t class_count = as_size(classes, "classes");
  checked_product(class_count, sizeof(std::int64_t));
  std::vector<std::int64_t> counts;
  {
    nb::gil_scoped_release release;
    counts = count_labels(labels.column(), class_count);
  }
  return to_numpy(std::move(counts));
}

// The columns and sizes that both ways of counting codes take.
struct CodeArguments {
  CodeArguments(nb::list columns, nb::list sizes, nb::handle target, std::int64_t classes)
      : target(target_of(target)), classes(as_size(classes, "classes")) {
    if (nb::len(columns) != nb::len(sizes)) throw nb::value_error("sizes: one a column is needed");
    for (nb::handle object : columns) {
      codes.push(object, "columns", this->target.length(0));
      codes.last().need_integer();
    }
    for (nb::handle size : sizes) {
      std::int64_t value = 0;
      if (!nb::try_cast(size, value)) throw nb::type_error("sizes: must be integers");
      level_counts.push_back(as_size(value, "sizes"));
      checked_product(this->classes, level_counts.back());
    }
  }
  Buffer target;
  std::size_t classes;
  Columns codes;
  std::vector<std::size_t> level_counts;
};

nb::list py_count_codes(nb::list columns, nb::list sizes, nb::handle target, std::int64_t classes) {
  const CodeArguments given(columns, sizes, target, classes);
  std::vector<std::vector<std::int64_t>> counts;
  {
    nb::gil_scoped_release release;
    counts = count_codes(given.codes.list(), given.level_counts, given.target.column(), given.classes);
  }
  nb::list result;
  for (std::size_t j = 0; j < counts.size(); ++j)
    result.append(to_numpy(std::move(counts[j]), {given.classes, given.level_counts[j]}));
  return result;
}

nb::list py_count_codes_weighted(nb::list columns, nb::list sizes, nb::handle target, std::int64_t classes,
                                 nb::handle weights) {
  const CodeArguments given(columns, sizes, target, classes);
  const std::optional<Buffer> weight_buffer = weights_of(weights, given.target.length(0));
  if (!weight_buffer) throw nb::type_error("weights: needed");
  std::vector<ExactArray> sums;
  {
    nb::gil_scoped_release release;
    for (std::size_t j = 0; j < given.level_counts.size(); ++j)
      sums.push_back(count_codes_weighted(given.codes.list()[j], given.level_counts[j], given.target.column(),
                                          given.classes, weight_buffer->column()));
  }
  nb::list result;
  for (ExactArray& one : sums) result.append(nb::cast(std::move(one)));
  return result;
}

nb::list py_count_integers(nb::list columns, nb::handle target, std::int64_t classes, std::int64_t limit) {
  const Buffer labels = target_of(target);
  const std::size_t class_count = as_size(classes, "classes");
  const std::size_t most = as_size(limit, "limit");
  checked_product(class_count, most);
  Columns values;
  for (nb::handle object : columns) values.push(object, "columns", labels.length(0));
  std::vector<std::optional<IntegerCounts>> counts;
  {
    nb::gil_scoped_release release;
    counts = count_integers(values.list(), labels.column(), class_count, most);
  }
  nb::list result;
  for (std::optional<IntegerCounts>& one : counts) {
    if (!one) {
      result.append(nb::none());
      continue;
    }
    const bool large = one->lowest > INT64_MAX;
    nb::object lowest = large ? nb::int_(static_cast<std::uint64_t>(one->lowest)) : nb::int_(static_cast<std::int64_t>(one->lowest));
    result.append(nb::make_tuple(lowest, to_numpy(std::move(one->counts), {class_count, one->width})));
  }
  return result;
}

ExactArray py_count_sparse(nb::handle indptr, nb::handle indices, nb::handle data, std::int64_t width, nb::handle target,
                           std::int64_t classes, nb::handle weights) {
  const Buffer labels = target_of(target);
  const std::size_t rows = labels.length(0);
  const Buffer starts(indptr, "indptr"), positions(indices, "indices"), values(data, "data");
  starts.need_dimensions(1).need_integer().need_length(0, rows + 1);
  positions.need_dimensions(1).need_integer();
  values.need_dimensions(1).need_length(0, positions.length(0));
  const std::size_t columns = as_size(width, "width"), class_count = as_size(classes, "classes");
  checked_product(columns, class_count);
  const std::optional<Buffer> weight_buffer = weights_of(weights, rows);
  const Column weight_column = weight_buffer ? weight_buffer->column() : Column{};
  nb::gil_scoped_release release;
  return count_sparse(starts.column(), positions.column(), values.column(), columns, labels.column(), class_count,
                      weight_buffer ? &weight_column : nullptr);
}

nb::tuple py_factorize(nb::handle values) {
  const Buffer buffer(values, "values");
  const Column column = buffer.need_dimensions(1).need_integer().column();
  ResultArray<std::int32_t> codes(column.rows);
  std::vector<std::int64_t> distinct;
  {
    nb::gil_scoped_release release;
    distinct = factorize(column, codes.data());
  }
  return nb::make_tuple(std::move(codes).to_numpy({column.rows}), to_numpy(std::move(distinct)));
}

nb::tuple py_factorize_doubles(nb::handle values) {
  const Buffer buffer(values, "values");
  const Column column = buffer.need_dimensions(1).column();
  std::vector<std::int32_t> codes(column.rows);
  std::vector<double> distinct;
  {
    nb::gil_scoped_release release;
    distinct = factorize_doubles(column, codes.data());
  }
  return nb::make_tuple(to_numpy(std::move(codes)), to_numpy(std::move(distinct)));
}

// The terms of a score and what they point into.
class ScoreArguments {
 public:
  ScoreArguments(std::int64_t rows, nb::handle prior, nb::list gaussians, nb::list tables, nb::list integers,
                 nb::handle extra, nb::handle target, nb::list by_class) {
    request.rows = as_size(rows, "rows");
    const Buffer prior_buffer(prior, "prior");
    prior_buffer.need_dimensions(1).need_kind(Kind::float64, "float64");
    request.classes = prior_buffer.length(0);
    checked_product(request.rows, request.classes);
    request.prior = keep(prior_buffer.doubles());
    for (nb::handle item : gaussians) {
      const nb::tuple term = fields(item, 2, "gaussians");
      Buffer parameters(term[1], "parameters");
      parameters.need_dimensions(2).need_kind(Kind::float64, "float64");
      parameters.need_length(0, request.classes).need_length(1, 4);
      columns_.push(term[0], "values", request.rows);
      request.gaussians.push_back({columns_.list().back(), keep(parameters.doubles())});
    }
    for (nb::handle item : tables) {
      const nb::tuple term = fields(item, 2, "tables");
      push_table(term[0], 0, term[1], Rows::codes);
    }
    for (nb::handle item : integers) {
      const nb::tuple term = fields(item, 3, "integers");
      push_table(term[0], lowest_of(term[1]), term[2], Rows::values);
    }
    for (nb::handle item : by_class) {
      const nb::tuple term = fields(item, 3, "by_class");
      push_table(term[0], lowest_of(term[1]), term[2], Rows::values_by_class);
    }
    if (!target.is_none()) {
      columns_.push(target, "target", request.rows);
      columns_.last().need_kind(Kind::int32, "int32");
      request.target = columns_.list().back();
    } else if (by_class.size() != 0) {
      throw nb::value_error("target: needed for tables by class");
    }
    if (!extra.is_none()) {
      const Buffer buffer(extra, "extra");
      buffer.need_dimensions(2).need_kind(Kind::float64, "float64");
      buffer.need_length(0, request.rows).need_length(1, request.classes);
      request.extra = keep(buffer.doubles());
    }
  }
  ScoreRequest request;

 private:
  static nb::tuple fields(nb::handle item, std::size_t count, const char* what) {
    nb::tuple fields = nb::tuple(nb::borrow(item));
    if (fields.size() != count) throw nb::value_error((std::string(what) + ": wrong number of fields").c_str());
    return fields;
  }
  static int128 lowest_of(nb::handle value) {
    int overflow = 0;
    const long long lowest = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) {
      if (lowest == -1 && PyErr_Occurred()) throw nb::python_error();
      return lowest;
    }
    const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw nb::value_error("lowest: does not fit in 64 bits");
    }
    return large;
  }
  enum class Rows { codes, values, values_by_class };

  void push_table(nb::handle codes, int128 lowest, nb::handle table, Rows rows) {
    const Buffer buffer(table, "table");
    buffer.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(1, request.classes);
    if (buffer.length(0) > UINT32_MAX) buffer.refuse("too many levels");
    columns_.push(codes, "codes", request.rows);
    if (rows != Rows::values) columns_.last().need_integer();
    TableTerm term{columns_.list().back(), lowest, 0, nullptr, rows == Rows::values_by_class, rows == Rows::values};
    const std::size_t beyond = 1 + term.nan_row, groups = term.by_class ? request.classes : 1;
    if (buffer.length(0) < beyond) buffer.refuse("needs its last rows");
    term.levels = groups == 0 ? 0 : (buffer.length(0) - beyond) / groups;
    if (term.table_rows(request.classes) != buffer.length(0)) buffer.refuse("is not as many rows for each class");
    term.table = keep(buffer.doubles());
    request.tables.push_back(term);
  }
  const double* keep(std::vector<double>&& values) {
    held_.push_back(std::move(values));
    return held_.back().data();
  }

  Columns columns_;
  std::vector<std::vector<double>> held_;
};

nb::tuple py_score(std::int64_t rows, nb::handle prior, nb::list gaussians, nb::list tables, nb::list integers,
                    nb::handle extra, int output, nb::handle target, nb::list by_class) {
  if (output < 0 || output > 3) throw nb::value_error("output: unknown");
  const ScoreArguments given(rows, prior, gaussians, tables, integers, extra, target, by_class);
  const ScoreRequest& request = given.request;
  const Output form = static_cast<Output>(output);
  ResultArray<double> out(form == Output::argmax ? 0 : request.rows * request.classes);
  ResultArray<std::int32_t> best(form == Output::argmax ? request.rows : 0);
  bool impossible = false;
  {
    nb::gil_scoped_release release;
    impossible = score(request, form, out.data(), best.data());
  }
  if (form == Output::argmax) return nb::make_tuple(std::move(best).to_numpy({request.rows}), false);
  return nb::make_tuple(std::move(out).to_numpy({request.rows, request.classes}), impossible);
}

nb::object py_leave_one_out(nb::list gaussians, nb::handle target, std::int64_t classes) {
  const Buffer labels = target_of(target);
  const std::size_t rows = labels.length(0), count = as_size(classes, "classes");
  checked_product(rows, count);
  Columns columns;
  std::vector<LeaveOneOutTerm> terms;
  for (nb::handle item : gaussians) {
    const nb::tuple fields = nb::tuple(nb::borrow(item));
    if (fields.size() != 4) throw nb::value_error("gaussians: wrong number of fields");
    const Buffer moments(fields[1], "moments");
    moments.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, count + 1).need_length(1, 4);
    columns.push(fields[0], "values", rows);
    const std::vector<double> held = moments.doubles();
    const double floor = nb::cast<double>(fields[2]), scale = nb::cast<double>(fields[3]);
    terms.push_back({columns.list().back(), LeaveOneOutGaussian(held.data(), count, floor, scale)});
  }
  std::vector<double> sums(rows * count);
  std::vector<std::uint8_t> doubtful(rows);
  {
    nb::gil_scoped_release release;
    leave_one_out(terms, labels.column(), count, sums.data(), doubtful.data());
  }
  return nb::make_tuple(to_numpy(std::move(sums), {rows, count}), to_numpy(std::move(doubtful)));
}

}  // namespace
}  // namespace bayesbox

NB_MODULE(_core, m) {
  using namespace bayesbox;
  m.doc() = "The compiled core: exact sums, counting, moments, scores.";

  // Methods of ExactArray keep the GIL: they are short, and it guards an array that several threads share.
  nb::class_<ExactArray>(m, "ExactArray")
      .def("__init__", [](ExactArray* self, std::int64_t size) { new (self) ExactArray(as_size(size, "size")); }, "size"_a)
      .def("__len__", &ExactArray::size)
      .def_static("from_integers", &from_integers, "values"_a)
      .def_static("from_doubles", &from_doubles, "values"_a)
      .def_static("from_text",
                  [](const nb::bytes& text) {
                    const std::string_view view(static_cast<const char*>(text.data()), text.size());
                    nb::gil_scoped_release release;
                    return ExactText::read(view);
                  },
                  "text"_a)
      .def("copy", [](const ExactArray& self) { return self; })
      .def("add", &add_to, "other"_a, "index"_a = nb::none(), nb::kw_only(), "sign"_a = 1)
      .def("take", &take, "index"_a)
      .def("sum_groups", &sum_groups, "index"_a, "size"_a)
      .def("__eq__",
           [](const ExactArray& self, nb::handle other) -> nb::object {
             if (!nb::isinstance<ExactArray>(other)) return nb::borrow(Py_NotImplemented);
             return nb::bool_(self == nb::cast<const ExactArray&>(other));
           },
           "other"_a.none())
      .def("signs", &signs)
      .def("is_integral", &ExactArray::is_integral)
      .def("to_integers", &to_integers)
      .def("to_doubles", &to_doubles)
      .def("parts", &parts, "cell"_a)
      .def("text", [](const ExactArray& self) {
        const std::string text = ExactText::write(self);
        return nb::bytes(text.data(), text.size());
      });

  m.attr("ExactArray").attr("__hash__") = nb::none();  // its value may change

  nb::class_<Moments>(m, "Moments")
      .def("__init__",
           [](Moments* self, const ExactArray& n, const ExactArray& fractional, const ExactArray& total,
              const ExactArray& squares) {
             if (fractional.size() != n.size() || total.size() != n.size() || squares.size() != n.size())
               throw nb::value_error("Moments: the numbers of cells differ");
             new (self) Moments(n, fractional, total, squares);
           },
           "n"_a, "fractional"_a, "total"_a, "squares"_a)
      .def_rw("n", &Moments::n)
      .def_rw("fractional", &Moments::fractional)
      .def_rw("total", &Moments::total)
      .def_rw("squares", &Moments::squares);

  m.def("moments", &py_moments, "columns"_a, "target"_a, "classes"_a, "weights"_a = nb::none());
  m.def("count_labels", &py_count_labels, "target"_a, "classes"_a);
  m.def("count_codes", &py_count_codes, "columns"_a, "sizes"_a, "target"_a, "classes"_a);
  m.def("count_codes_weighted", &py_count_codes_weighted, "columns"_a, "sizes"_a, "target"_a, "classes"_a, "weights"_a);
  m.def("count_integers", &py_count_integers, "columns"_a, "target"_a, "classes"_a, "limit"_a);
  m.def("count_sparse", &py_count_sparse, "indptr"_a, "indices"_a, "data"_a, "width"_a, "target"_a, "classes"_a,
        "weights"_a = nb::none());
  m.def("factorize_integers", &py_factorize, "values"_a);
  m.def("factorize_doubles", &py_factorize_doubles, "values"_a);
  m.attr("JOINT") = static_cast<int>(Output::joint);
  m.attr("LOG_POSTERIOR") = static_cast<int>(Output::log_posterior);
  m.attr("POSTERIOR") = static_cast<int>(Output::posterior);
  m.attr("ARGMAX") = static_cast<int>(Output::argmax);
  m.def("leave_one_out_gaussians", &py_leave_one_out, "gaussians"_a, "target"_a, "classes"_a);
  m.def("score", &py_score, "rows"_a, "prior"_a, "gaussians"_a, "tables"_a, "integers"_a, "extra"_a.none(), "output"_a,
        "target"_a = nb::none(), "by_class"_a = nb::list());
  bind_joint(m);
  bind_networks(m);
  bind_text(m);
  bind_mail(m);
  bind_chain(m);
  bind_augmented(m);
  bind_forest(m);
  bind_cuts(m);
  bind_kernel_density(m);
  m.def("has_avx2", &has_avx2);
  m.def("use_avx2", &use_avx2, "enabled"_a);
}
