// Rows that are learned one at a time, for Python: dicts, read like those that are answered.
#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "bind/row_values.hpp"
#include "core/kernels.hpp"
#include "table/live_rows.hpp"

namespace bayesbox {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 53;  // that a double counts one by one

enum class LabelKind : std::uint8_t { text, integer, flag };

class PyLiveRows {
 public:
  // columns: (name, kind, levels, takes_numbers, takes_new) each; classes: their texts; labels: the classes themselves.
  PyLiveRows(nb::list columns, nb::tuple classes, nb::tuple labels, nb::str label_type)
      : labels_(labels), rows_(columns_of(columns), classes.size()), out_(classes.size()), kernel_(classes.size() * kPad) {
    for (nb::handle each : columns) names_.push_back(interned(tuple_of(each)[0]));
    for (nb::handle each : classes) add_text(class_index_, each);
    const std::string type = label_type.c_str();
    if (type == "text") label_kind_ = LabelKind::text;
    else if (type == "integer") label_kind_ = LabelKind::integer;
    else if (type == "flag") label_kind_ = LabelKind::flag;
    else throw nb::value_error("label_type: not one that is read here");
    if (class_index_.size() != classes.size() || labels.size() != classes.size())
      throw nb::value_error("classes: one is there twice, or has no label");
  }

  // Each is false where the row, or its label, is not plain: nothing was changed then.
  bool learn(nb::handle row, nb::handle label) {
    const std::int32_t own = class_of(label.ptr());
    if (closed_ || own < 0 || !read(row, true)) return false;
    rows_.learn(static_cast<std::size_t>(own));
    return true;
  }
  bool forget(nb::handle row, nb::handle label) {
    const std::int32_t own = class_of(label.ptr());
    if (own < 0 || !rows_.is_live() || !read(row, false)) return false;
    for (std::size_t j = 0; j < names_.size(); ++j)
      if (rows_.columns()[j].is_used && rows_.row()[j].code == kUnseenCode) return false;
    rows_.forget(static_cast<std::size_t>(own));
    return true;
  }

  bool forget_later(nb::handle row, nb::handle label) {
    const std::int32_t own = class_of(label.ptr());
    return !closed_ && own >= 0 && read(row, false, true) && rows_.forget_later(static_cast<std::size_t>(own));
  }

  std::size_t waiting() const { return rows_.waiting(); }
  bool is_live() const { return rows_.is_live(); }
  void close() { closed_ = true; }

  // The levels of a column, in the order of their codes.
  nb::list levels(std::size_t column) {
    if (column >= rows_.columns().size()) throw nb::index_error();
    const LevelIndex& index = rows_.columns()[column].levels;
    nb::list found;
    for (std::size_t code = 0; code < index.size(); ++code)
      found.append(nb::str(index.level(code).data(), index.level(code).size()));
    return found;
  }

  // The rows that wait, which are gone from here: their labels, and for each column its numbers, its (codes, levels), or None;
  // and the same of those that are to be forgotten.
  nb::object take() {
    // All is moved out before Python is called, where another thread may come in and learn a row.
    struct Waiting {
      std::vector<double> numbers, gone_numbers;
      std::vector<std::int32_t> codes, gone;
    };
    std::vector<std::int32_t> labels = std::exchange(rows_.labels(), {}), gone_labels = std::exchange(rows_.gone_labels(), {});
    std::vector<Waiting> waiting;
    waiting.reserve(rows_.columns().size());
    for (LiveColumn& column : rows_.columns())
      waiting.push_back({std::exchange(column.numbers, {}), std::exchange(column.gone_numbers, {}),
                         std::exchange(column.codes, {}), std::exchange(column.gone, {})});
    rows_.clear();
    const std::size_t count = labels.size(), gone_count = gone_labels.size();
    nb::list columns, gone;
    for (std::size_t place = 0; place < waiting.size(); ++place) {
      const LiveKind kind = rows_.columns()[place].kind;
      Waiting& taken = waiting[place];
      if (kind == LiveKind::number) {
        columns.append(to_numpy(std::move(taken.numbers)));
        gone.append(to_numpy(std::move(taken.gone_numbers)));
      } else if (kind == LiveKind::nothing) {
        columns.append(nb::none());
        gone.append(nb::none());
      } else {
        const nb::list texts = levels(place);
        columns.append(nb::make_tuple(to_numpy(std::move(taken.codes)), texts));
        gone.append(nb::make_tuple(to_numpy(std::move(taken.gone)), texts));
      }
    }
    nb::object own = to_numpy(std::move(labels)), other = to_numpy(std::move(gone_labels));
    return nb::make_tuple(nb::make_tuple(count, own, columns), nb::make_tuple(gone_count, other, gone));
  }

  // The counts of all rows so far: class_counts; for each column None, ("levels", added, smooths unseen, declared codes,
  // counts of levels x classes), ("normal", base, floor, sums) or ("robust", base, sums, zeros, labels, cells, counts).
  void go_live(nb::handle class_counts, nb::list columns) {
    const std::size_t classes = rows_.classes();
    std::vector<std::int64_t> own = Buffer(class_counts, "class_counts").need_dimensions(1).need_length(0, classes).integers();
    for (const std::int64_t count : own)
      if (count < 0 || count > kMostRows) throw nb::value_error("class_counts: each must be 0 to 2^53");
    std::vector<LiveColumn>& into = rows_.columns();
    if (columns.size() != into.size()) throw nb::value_error("columns: one for each");
    rows_.end_live();
    for (std::size_t j = 0; j < into.size(); ++j) {
      into[j].is_used = !columns[j].is_none();
      if (into[j].is_used) read_counts(tuple_of(columns[j]), into[j], classes);
    }
    rows_.go_live(std::move(own));
  }

  // The posterior by label; None where the live model does not answer.
  nb::object proba_by_label(nb::handle row) {
    if (!answer(row)) return nb::none();
    nb::dict found;
    for (std::size_t c = 0; c < out_.size(); ++c) {
      const nb::float_ share(out_[c]);
      if (PyDict_SetItem(found.ptr(), NB_TUPLE_GET_ITEM(labels_.ptr(), static_cast<Py_ssize_t>(c)), share.ptr()) != 0)
        throw nb::python_error();
    }
    return found;
  }
  nb::object predict(nb::handle row) {
    if (!answer(row)) return nb::none();
    const auto best = std::max_element(out_.begin(), out_.end()) - out_.begin();
    return nb::borrow(NB_TUPLE_GET_ITEM(labels_.ptr(), static_cast<Py_ssize_t>(best)));
  }

 private:
  static nb::object interned(nb::object name) {
    PyObject* text = name.release().ptr();
    PyUnicode_InternInPlace(&text);
    return nb::steal(text);
  }

  static void add_text(LevelIndex& index, nb::handle text) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) throw nb::python_error();
    index.add({bytes, static_cast<std::size_t>(size)});
  }

  static std::vector<LiveColumn> columns_of(const nb::list& given) {
    std::vector<LiveColumn> columns;
    for (nb::handle each : given) {
      const nb::tuple fields = tuple_of(each);
      if (fields.size() != 5) throw nb::value_error("columns: wrong number of fields");
      LiveColumn& column = columns.emplace_back();
      const std::string kind = nb::str(fields[1]).c_str();
      column.kind = kind == "number" ? LiveKind::number : kind == "levels" ? LiveKind::levels : kind == "flag" ? LiveKind::flag : LiveKind::nothing;
      for (nb::handle level : tuple_of(fields[2])) add_text(column.levels, level);
      column.takes_numbers = nb::cast<bool>(fields[3]);
      column.takes_new = nb::cast<bool>(fields[4]);
      if (column.kind == LiveKind::flag && column.levels.size() != 2) throw nb::value_error("columns: a flag has two levels");
    }
    return columns;
  }

  static void read_counts(const nb::tuple& given, LiveColumn& column, std::size_t classes) {
    const std::string form = nb::str(given[0]).c_str();
    if (form == "levels") {
      if (given.size() != 5 || column.kind == LiveKind::number) throw nb::value_error("levels: wrong fields");
      LiveLevels counts;
      counts.added = nb::cast<double>(given[1]);
      counts.smooths_unseen = nb::cast<bool>(given[2]);
      const Buffer table(given[4], "counts");
      const std::size_t levels = table.need_dimensions(1).length(0) / classes;
      if (levels * classes != table.length(0)) table.refuse("is not a count for each class");
      if (levels > column.levels.size()) table.refuse("has levels without a name");
      counts.resize(levels, classes);
      counts.totals.resize(classes);
      for (const std::int64_t code : Buffer(given[3], "declared").need_dimensions(1).integers()) {
        if (code < 0 || static_cast<std::size_t>(code) >= levels) throw nb::value_error("declared: out of range");
        counts.declared[static_cast<std::size_t>(code)] = 1;
      }
      const std::vector<std::int64_t> cells = table.integers();
      for (std::size_t k = 0; k < levels; ++k) {
        for (std::size_t c = 0; c < classes; ++c) {
          const std::int64_t cell = cells[k * classes + c];
          counts.counts[k * classes + c] = cell;
          counts.by_level[k] += cell;
          counts.totals[c] += cell;
        }
        counts.possible += counts.by_level[k] != 0 || counts.declared[k] != 0;
      }
      column.counts = std::move(counts);
      return;
    }
    if (column.kind != LiveKind::number) throw nb::value_error("columns: sums of what is not a number");
    if (form == "normal" && given.size() == 7) {
      column.robust.reset();
      column.normal = {nb::cast<double>(given[1]), nb::cast<double>(given[2]), sums_of(given, 3, classes + 1)};
    } else if (form == "robust" && given.size() == 10) {
      column.robust = robust_of(given, classes);
    } else {
      throw nb::value_error("columns: wrong fields");
    }
  }

  // Counts of rows: so few that sums of them, and a hundred times that, are counts too.
  static std::vector<std::int64_t> counts_of(nb::handle given, std::size_t count) {
    const Buffer buffer(given, "counts");
    std::vector<std::int64_t> found = buffer.need_dimensions(1).need_length(0, count).integers();
    for (const std::int64_t each : found)
      if (each < 0 || each > std::int64_t{1} << 52) buffer.refuse("is not a number of rows");
    return found;
  }

  // Four fields from one on: the counts, how many are fractional, the totals and the squares in two doubles each.
  static std::vector<LiveSums> sums_of(const nb::tuple& given, std::size_t first, std::size_t count) {
    const auto whole = [&](std::size_t field) { return counts_of(given[first + field], count); };
    const auto pairs = [&](std::size_t field) {
      const Buffer buffer(given[first + field], "sums");
      return buffer.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(0, count).need_length(1, 2).doubles();
    };
    const std::vector<std::int64_t> n = whole(0), fractional = whole(1);
    const std::vector<double> total = pairs(2), squares = pairs(3);
    std::vector<LiveSums> found;
    for (std::size_t k = 0; k < count; ++k)
      found.push_back({n[k], fractional[k], {total[2 * k], total[2 * k + 1]}, {squares[2 * k], squares[2 * k + 1]}});
    return found;
  }

  // (robust, base, four fields of sums, zeros, labels, cells, counts): the sums without the zeros, the last of the column.
  static std::unique_ptr<LiveRobust> robust_of(const nb::tuple& given, std::size_t classes) {
    std::vector<std::int64_t> zeros = counts_of(given[6], classes + 1);
    auto robust = std::make_unique<LiveRobust>(nb::cast<double>(given[1]), sums_of(given, 2, classes + 1), std::move(zeros));
    const std::vector<std::int64_t> labels = Buffer(given[7], "labels").need_dimensions(1).integers();
    const std::vector<std::int64_t> cells = Buffer(given[8], "cells").need_dimensions(1).need_length(0, labels.size()).integers();
    const std::vector<std::int64_t> counts = counts_of(given[9], labels.size());
    for (std::size_t k = 0; k < labels.size(); ++k) {
      if (labels[k] < 0 || static_cast<std::size_t>(labels[k]) >= classes) throw nb::value_error("labels: out of range");
      if (cells[k] == 0 || std::abs(cells[k]) > CellTree::kLastKey) throw nb::value_error("cells: out of range");
      robust->add_cell(static_cast<std::size_t>(labels[k]), static_cast<std::int32_t>(cells[k]), counts[k]);
    }
    return robust;
  }

  // The place of a label among the classes, -1 where it is new or of another type.
  std::int32_t class_of(PyObject* label) const {
    switch (label_kind_) {
      case LabelKind::flag:
        if (!PyBool_Check(label)) return -1;
        return class_index_.find(label == Py_True ? "true" : "false");
      case LabelKind::integer:
        if (PyFloat_Check(label) || is_numpy_float(label)) return -1;
        break;
      case LabelKind::text:
        if (!PyUnicode_Check(label)) return -1;
    }
    LevelText text;
    if (label_kind_ == LabelKind::integer && PyUnicode_Check(label)) return -1;
    return text.of(label) ? class_index_.find(text.view()) : -1;
  }

  // A row to be learned, or forgotten, has no column that the model does not know; one that is asked may.
  bool read(nb::handle row, bool learning, bool all_known = false) {
    if (!PyDict_Check(row.ptr())) return false;
    std::vector<LiveColumn>& columns = rows_.columns();
    Py_ssize_t found = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      LiveValue& into = rows_.row()[j];
      into = {std::nan(""), kMissingCode};
      PyObject* value = PyDict_GetItemWithError(row.ptr(), names_[j].ptr());
      if (value == nullptr) {
        if (PyErr_Occurred()) throw nb::python_error();
        continue;
      }
      ++found;
      if (value != Py_None && !read_value(columns[j], value, into, learning)) return false;
    }
    const Py_ssize_t keys = NB_DICT_GET_SIZE(row.ptr());
    return learning || all_known ? found == keys : found > 0 || keys == 0;
  }

  static bool read_value(LiveColumn& column, PyObject* value, LiveValue& into, bool learning) {
    switch (column.kind) {
      case LiveKind::nothing: return column.takes_numbers;  // a column that is ignored takes anything
      case LiveKind::number: return number_of(value, into.number);
      case LiveKind::flag:
        if (!PyBool_Check(value)) return false;
        into.code = value == Py_True;
        return true;
      case LiveKind::levels: break;
    }
    if (!column.takes_numbers && !PyUnicode_Check(value)) {
      double number = 0;
      return number_of(value, number) && std::isnan(number);
    }
    LevelText text;
    if (!text.of(value)) return false;
    if (text.missing()) return true;
    into.code = column.levels.find(text.view());
    if (into.code != LevelIndex::kNone) return true;
    if (!learning) {
      into.code = kUnseenCode;
      return true;
    }
    if (!column.takes_new || column.levels.size() >= LiveRows::kMostLevels) return false;
    into.code = column.levels.add(text.view());
    return true;
  }

  bool answer(nb::handle row) {
    if (!rows_.takes_question() || !read(row, false) || !rows_.joint(out_.data())) return false;
    for (std::size_t c = 0; c < out_.size(); ++c) kernel_[c * kPad] = out_[c];
    return !kernels().posteriors(kernel_.data(), out_.size(), kPad, 1, out_.data());
  }

  nb::tuple labels_;
  std::vector<nb::object> names_;
  LevelIndex class_index_;
  LabelKind label_kind_ = LabelKind::text;
  LiveRows rows_;
  bool closed_ = false;  // whether no row is taken any more
  std::vector<double> out_, kernel_;
};

}  // namespace

void register_live_rows(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PyLiveRows>(m, "LiveRows")
      .def(nb::init<nb::list, nb::tuple, nb::tuple, nb::str>(), "columns"_a, "classes"_a, "labels"_a, "label_type"_a)
      .def("learn", &PyLiveRows::learn, "row"_a, "label"_a)
      .def("forget", &PyLiveRows::forget, "row"_a, "label"_a)
      .def("forget_later", &PyLiveRows::forget_later, "row"_a, "label"_a)
      .def_prop_ro("waiting", &PyLiveRows::waiting)
      .def_prop_ro("is_live", &PyLiveRows::is_live)
      .def("close", &PyLiveRows::close)
      .def("levels", &PyLiveRows::levels, "column"_a)
      .def("take", &PyLiveRows::take)
      .def("go_live", &PyLiveRows::go_live, "class_counts"_a, "columns"_a)
      .def("proba_by_label", &PyLiveRows::proba_by_label, "row"_a)
      .def("predict", &PyLiveRows::predict, "row"_a);
}

}  // namespace bayesbox
