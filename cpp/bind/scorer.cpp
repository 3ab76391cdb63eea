// Rows answered one at a time, or a few, for Python: a row is a dict, of which the values of the model's columns are read.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <type_traits>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "bind/row_values.hpp"
#include "bind/scorer_inputs.hpp"
#include "table/json_rows.hpp"
#include "table/scorer.hpp"

namespace bayesbox {
namespace {

class PyScorer {
 public:
  PyScorer(nb::handle prior, nb::list columns, nb::tuple labels, bool has_extra, nb::handle calibration, nb::handle families,
           nb::handle one_dependence, nb::handle joint) {
    const Buffer given(prior, "prior");
    given.need_dimensions(1).need_kind(Kind::float64, "float64");
    const std::size_t classes = given.length(0);
    if (classes == 0) throw nb::value_error("prior: there is no class");
    if (labels.size() != classes) throw nb::value_error("labels: one a class");
    std::size_t count = 0;
    for (nb::handle column : columns) count += InputReader(column, classes).names().size();
    std::vector<ScorerInput> inputs;
    inputs.reserve(count), names_.reserve(count), plain_names_.reserve(count);
    for (nb::handle column : columns) {
      InputReader reader(column, classes);
      reader.read_into(inputs);
      for (nb::handle name : reader.names()) {
        names_.push_back(interned(nb::borrow(name)));
        plain_names_.emplace_back(utf8(names_.back()));
      }
      if (names_.size() != inputs.size()) throw nb::value_error("columns: one name an input");
    }
    labels_ = labels;
    CodedModel coded;
    if (!families.is_none())
      for (nb::handle family : tuple_of(families)) coded.families.push_back(family_of(family, inputs, classes));
    if (!one_dependence.is_none()) read_one_dependence(tuple_of(one_dependence), inputs, classes, coded);
    if (!joint.is_none()) coded.joint = joint_of(tuple_of(joint), inputs, classes);
    scorer_ = std::make_shared<const Scorer>(given.doubles(), std::move(inputs), has_extra, calibration_of(calibration, classes), std::move(coded));
    out_size_ = classes;
    is_numbers_ = scorer_->is_numbers();
  }

  // Each gives None where the row is not a plain one, or has no posterior: then it is to be asked in another way.
  nb::object proba(nb::handle row, nb::handle extra) const { return array(row, extra, false); }
  nb::object log_proba(nb::handle row, nb::handle extra) const { return array(row, extra, true); }

  nb::object proba_by_label(nb::handle row, nb::handle extra) const {
    const Scorer::Lease space(*scorer_);
    double few[kFew];
    std::vector<double> many(out_size_ > kFew ? out_size_ : 0);
    double* out = many.empty() ? few : many.data();
    if (!read(row, extra, space) || !space->answer(1, false, out)) return nb::none();
    nb::dict found;
    for (std::size_t c = 0; c < out_size_; ++c) {
      const nb::float_ share(out[c]);
      if (PyDict_SetItem(found.ptr(), NB_TUPLE_GET_ITEM(labels_.ptr(), static_cast<Py_ssize_t>(c)), share.ptr()) != 0)
        throw nb::python_error();
    }
    return found;
  }

  // The label of the most probable class; of equal ones the first.
  nb::object predict(nb::handle row, nb::handle extra) const {
    const Scorer::Lease space(*scorer_);
    std::int32_t best = 0;
    if (!read(row, extra, space) || !space->best(1, &best)) return nb::none();
    return nb::borrow(NB_TUPLE_GET_ITEM(labels_.ptr(), static_cast<Py_ssize_t>(best)));
  }

  // The posteriors of many dicts, rows x classes; None where one is not a plain one, or has no posterior. With `known_only`
  // None too where a row has a level that was never seen, or a column that the model does not have.
  nb::object proba_many(nb::list rows, bool logs, bool known_only) const {
    return of_dicts<double>(rows, known_only, [logs](const Scorer::Lease& space, std::size_t count, double* out) {
      return space->answer(count, logs, out);
    });
  }

  // The most probable class of each, rows x 1, or None likewise.
  nb::object best_many(nb::list rows, bool known_only) const {
    return of_dicts<std::int32_t>(rows, known_only, [](const Scorer::Lease& space, std::size_t count, std::int32_t* out) {
      return space->best(count, out);
    });
  }

  // The posteriors of columns, each a list of values, one an input, or None where it is absent.
  nb::object proba_of_columns(nb::list columns, std::size_t count) const {
    const std::vector<ScorerInput>& inputs = scorer_->inputs();
    if (columns.size() != inputs.size()) throw nb::value_error("columns: one an input");
    for (nb::handle column : columns)
      if (!column.is_none() && (!PyList_Check(column.ptr()) || PyList_Size(column.ptr()) != static_cast<Py_ssize_t>(count)))
        throw nb::value_error("columns: lists of so many values");
    ResultArray<double> out(count * out_size_);
    const Scorer::Lease space(*scorer_);
    for (std::size_t first = 0; first < count; first += ScorerWorkspace::kRows) {
      const std::size_t some = std::min(ScorerWorkspace::kRows, count - first);
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        const nb::handle column = columns[j];
        for (std::size_t i = 0; i < some; ++i) {
          if (column.is_none())
            space->set_missing(j, i);
          else if (!set_value(inputs[j], j, PyList_GetItem(column.ptr(), static_cast<Py_ssize_t>(first + i)), space, i, false))
            return nb::none();
        }
      }
      if (!space->answer(some, false, out.data() + first * out_size_)) return nb::none();
    }
    return std::move(out).to_numpy({count, out_size_});
  }

  const std::shared_ptr<const Scorer>& scorer() const { return scorer_; }
  const std::vector<std::string>& plain_names() const { return plain_names_; }

  // The posteriors of a matrix of numbers, whose column places[j] is that of input j (-1: it is absent). None where a value
  // is infinite, or a level that was never seen, or where a row has no posterior.
  nb::object proba_of_matrix(nb::handle matrix, nb::handle places, bool logs) const {
    return of_matrix<double>(matrix, places, [logs](const Scorer::Lease& space, std::size_t rows, double* out) {
      return space->answer(rows, logs, out);
    });
  }

  // The most probable class of each row, rows x 1, or None likewise.
  nb::object best_of_matrix(nb::handle matrix, nb::handle places) const {
    return of_matrix<std::int32_t>(matrix, places, [](const Scorer::Lease& space, std::size_t rows, std::int32_t* out) {
      return space->best(rows, out);
    });
  }

 private:
  template <class T, class Answer>
  nb::object of_dicts(const nb::list& rows, bool known_only, const Answer& answer) const {
    const std::size_t count = rows.size(), width = std::is_same_v<T, double> ? out_size_ : 1;
    ResultArray<T> out(count * width);
    const Scorer::Lease space(*scorer_);
    for (std::size_t first = 0; first < count; first += ScorerWorkspace::kRows) {
      const std::size_t some = std::min(ScorerWorkspace::kRows, count - first);
      for (std::size_t i = 0; i < some; ++i)
        if (!read_into(rows[first + i], space, i, known_only)) return nb::none();
      if (!answer(space, some, out.data() + first * width)) return nb::none();
    }
    return std::move(out).to_numpy({count, width});
  }

  template <class T, class Answer>
  nb::object of_matrix(nb::handle matrix, nb::handle places, const Answer& answer) const {
    const std::size_t width = std::is_same_v<T, double> ? out_size_ : 1;
    const Buffer values(matrix, "matrix");
    values.need_dimensions(2);
    const std::vector<std::int64_t> place = Buffer(places, "places").need_dimensions(1).integers();
    const std::vector<ScorerInput>& inputs = scorer_->inputs();
    if (place.size() != inputs.size()) throw nb::value_error("places: one an input");
    for (const std::int64_t each : place)
      if (each >= static_cast<std::int64_t>(values.length(1))) throw nb::value_error("places: out of range");
    const std::size_t count = values.length(0);
    ResultArray<T> out(count * width);
    const bool in_place = count > 0 && !inputs.empty() && is_numbers_ && is_matrix_of_doubles(values) &&
                          std::all_of(place.begin(), place.end(), [](std::int64_t each) { return each >= 0; });
    const Scorer::Lease space(*scorer_, in_place);
    if (in_place) {
      const ScorerWorkspace::Aim aim(*space.operator->(), place, values.column(0), count);
      if (!answer(space, count, out.data())) return nb::none();
      return std::move(out).to_numpy({count, width});
    }
    for (std::size_t first = 0; first < count; first += ScorerWorkspace::kRows) {
      const std::size_t some = std::min(ScorerWorkspace::kRows, count - first);
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        if (place[j] < 0) {
          for (std::size_t i = 0; i < some; ++i) space->set_missing(j, i);
          continue;
        }
        const Column column = values.column(static_cast<std::size_t>(place[j]));
        if (inputs[j].kind == InputKind::number && inputs[j].table_rows == 0) {
          if (!space->set_numbers(j, column, first, some)) return nb::none();
          continue;
        }
        if (inputs[j].kind == InputKind::flag && inputs[j].table_rows != 0) {
          if (!space->set_flags(j, column, first, some)) return nb::none();
          continue;
        }
        for (std::size_t i = 0; i < some; ++i)
          if (!set_double(inputs[j], j, value_at(column, first + i), space, i)) return nb::none();
      }
      if (!answer(space, some, out.data() + first * width)) return nb::none();
    }
    return std::move(out).to_numpy({count, width});
  }

  static constexpr std::size_t kFew = 16;

  static std::string_view utf8(nb::handle text) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) throw nb::python_error();
    return {bytes, static_cast<std::size_t>(size)};
  }

  // Whether its columns are side by side.
  static bool is_matrix_of_doubles(const Buffer& values) {
    const Column first = values.column(0);
    return first.kind == Kind::float64 && (values.length(1) < 2 || values.column(1).data == first.data + sizeof(double));
  }

  static nb::object interned(nb::object name) {
    PyObject* text = name.release().ptr();
    PyUnicode_InternInPlace(&text);
    return nb::steal(text);
  }

  nb::object array(nb::handle row, nb::handle extra, bool logs) const {
    const Scorer::Lease space(*scorer_);
    std::vector<double> out(out_size_);
    if (!read(row, extra, space) || !space->answer(1, logs, out.data())) return nb::none();
    return to_numpy(std::move(out), {out_size_});
  }

  // Whether the row could be read; one with some columns, of which the model knows none, is not.
  bool read(nb::handle row, nb::handle extra, const Scorer::Lease& space) const {
    if (!read_into(row, space, 0)) return false;
    if (!scorer_->has_extra()) return true;
    if (extra.is_none()) return false;
    const std::vector<double> terms = doubles_of(extra, "extra", out_size_);
    for (std::size_t c = 0; c < out_size_; ++c) space->set_extra(0, c, terms[c]);
    return true;
  }

  bool read_into(nb::handle row, const Scorer::Lease& space, std::size_t place, bool known_only = false) const {
    if (!PyDict_Check(row.ptr())) return false;
    const std::vector<ScorerInput>& inputs = scorer_->inputs();
    std::size_t absent = 0;
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      PyObject* value = PyDict_GetItemWithError(row.ptr(), names_[j].ptr());
      if (value == nullptr) {
        if (PyErr_Occurred()) throw nb::python_error();
        ++absent;
        space->set_missing(j, place);
      } else if (!set_value(inputs[j], j, value, space, place, known_only)) {
        return false;
      }
    }
    if (known_only && static_cast<Py_ssize_t>(inputs.size() - absent) != NB_DICT_GET_SIZE(row.ptr())) return false;
    return absent < inputs.size() || NB_DICT_GET_SIZE(row.ptr()) == 0 || scorer_->has_extra();
  }

  static bool set_value(const ScorerInput& input, std::size_t j, PyObject* value, const Scorer::Lease& space,
                        std::size_t place, bool known_only) {
    if (value == Py_None) {
      space->set_missing(j, place);
      return true;
    }
    std::int32_t code = 0;
    switch (input.kind) {
      case InputKind::number:
      case InputKind::bins: {
        double number = 0;
        if (!number_of(value, number)) return false;
        space->set_number(j, place, number);
        return true;
      }
      case InputKind::flag: {
        const std::optional<int> flag = flag_of(value);
        if (!flag) return false;
        code = *flag < 0 ? (*flag == kMissingFlag ? input.missing_code() : input.unseen_code()) : *flag;
        break;
      }
      case InputKind::levels: {
        LevelText text;
        if (!text.of(value)) return false;
        if (text.missing()) {
          code = input.missing_code();
        } else {
          const std::int32_t found = input.levels.find(text.view());
          code = found == LevelIndex::kNone ? input.unseen_code() : found;
        }
      }
    }
    if ((known_only || input.refuses_unseen) && code == input.unseen_code()) return false;
    space->set_code(j, place, code);
    return true;
  }

  static bool set_double(const ScorerInput& input, std::size_t j, double value, const Scorer::Lease& space, std::size_t row) {
    if (std::isinf(value)) return false;
    if (input.kind == InputKind::number || input.kind == InputKind::bins) {
      space->set_number(j, row, value);
      return true;
    }
    if (std::isnan(value)) {
      space->set_missing(j, row);
      return true;
    }
    std::int32_t code = 0;
    if (input.kind == InputKind::flag) {
      if (value != 0 && value != 1) return false;
      code = value == 1;
    } else {
      LevelText text;
      if (!text.of(value)) return false;
      code = input.levels.find(text.view());
      if (code == LevelIndex::kNone) return false;
    }
    space->set_code(j, row, code);
    return true;
  }

  std::vector<nb::object> names_;
  std::vector<std::string> plain_names_;
  nb::tuple labels_;
  std::shared_ptr<const Scorer> scorer_;
  bool is_numbers_ = false;
  std::size_t out_size_ = 0;
};

// Bodies of JSON answered as JSON.
class PyJsonScorer {
 public:
  PyJsonScorer(const PyScorer& scorer, nb::list skipped, nb::list numbers, nb::list labels, nb::list keys)
      : scorer_(scorer.scorer()),
        rows_(*scorer_, scorer.plain_names(), texts(skipped), texts(numbers)),
        labels_{texts(labels), texts(keys)} {
    if (labels_.labels.size() != scorer_->classes() || labels_.keys.size() != scorer_->classes())
      throw nb::value_error("labels, keys: one a class");
    if (scorer_->has_extra()) throw nb::value_error("scorer: it needs terms that a body does not have");
  }

  // The answers between two given texts, the number of rows, and how many of them have each class; None where the body is
  // not a plain one.
  nb::object answer(nb::bytes body, nb::bytes before, nb::bytes after, std::size_t most) const {
    constexpr std::size_t kLong = 1 << 16;  // bytes that are read in less time than others need to be let in
    const std::string_view text(body.c_str(), body.size());
    std::optional<JsonAnswers> found;
    if (text.size() < kLong) {
      found = rows_.answer(text, labels_, most);
    } else {
      const LongCall call;
      found = rows_.answer(text, labels_, most);
    }
    if (!found) return nb::none();
    found->text.insert(0, before.c_str(), before.size());
    found->text.append(after.c_str(), after.size());
    nb::list counts;
    for (const std::int64_t count : found->counts) counts.append(count);
    return nb::make_tuple(nb::bytes(found->text.data(), found->text.size()), found->rows, counts);
  }

 private:
  static std::vector<std::string> texts(const nb::list& given) {
    std::vector<std::string> found;
    for (nb::handle each : given) {
      if (!PyBytes_Check(each.ptr())) throw nb::type_error("bytes are needed here");
      const auto bytes = nb::borrow<nb::bytes>(each);
      found.emplace_back(bytes.c_str(), bytes.size());
    }
    return found;
  }

  std::shared_ptr<const Scorer> scorer_;
  JsonRows rows_;
  JsonLabels labels_;
};

}  // namespace

void register_scorer(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PyScorer>(m, "RowScorer")
      .def(nb::init<nb::handle, nb::list, nb::tuple, bool, nb::handle, nb::handle, nb::handle, nb::handle>(), "prior"_a, "columns"_a, "labels"_a,
           "has_extra"_a, "calibration"_a.none(), "families"_a.none() = nb::none(), "one_dependence"_a.none() = nb::none(),
           "joint"_a.none() = nb::none())
      .def("proba", &PyScorer::proba, "row"_a, "extra"_a.none() = nb::none())
      .def("log_proba", &PyScorer::log_proba, "row"_a, "extra"_a.none() = nb::none())
      .def("proba_by_label", &PyScorer::proba_by_label, "row"_a, "extra"_a.none() = nb::none())
      .def("predict", &PyScorer::predict, "row"_a, "extra"_a.none() = nb::none())
      .def("proba_many", &PyScorer::proba_many, "rows"_a, "logs"_a, "known_only"_a = false)
      .def("proba_of_columns", &PyScorer::proba_of_columns, "columns"_a, "rows"_a)
      .def("best_many", &PyScorer::best_many, "rows"_a, "known_only"_a)
      .def("proba_of_matrix", &PyScorer::proba_of_matrix, "matrix"_a, "places"_a, "logs"_a)
      .def("best_of_matrix", &PyScorer::best_of_matrix, "matrix"_a, "places"_a);
  nb::class_<PyJsonScorer>(m, "JsonScorer")
      .def(nb::init<const PyScorer&, nb::list, nb::list, nb::list, nb::list>(), "scorer"_a, "skipped"_a, "numbers"_a, "labels"_a,
           "keys"_a)
      .def("answer", &PyJsonScorer::answer, "body"_a, "before"_a, "after"_a, "most"_a);
}

}  // namespace bayesbox
