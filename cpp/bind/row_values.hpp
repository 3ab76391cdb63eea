// Conversion of the values of a row, a Python dict. Each function returns false for a value that Python must
// handle.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "table/flag_text.hpp"

namespace bayesbox {

// The argument as a tuple, checked: a borrowed reference alone would not check.
inline nanobind::tuple tuple_of(nanobind::handle given) {
  if (!PyTuple_Check(given.ptr())) throw nanobind::type_error("a tuple is needed here");
  return nanobind::borrow<nanobind::tuple>(given);
}

// A float32 or float16 of numpy; its float64 is a float of Python's.
inline bool is_numpy_float(PyObject* value) {
#if defined(Py_LIMITED_API)
  if (PyLong_Check(value) || PyUnicode_Check(value)) return false;
  const nanobind::str name = nanobind::inst_name(value);
  return std::strncmp(name.c_str(), "numpy.float", 11) == 0;
#else
  return std::strncmp(Py_TYPE(value)->tp_name, "numpy.float", 11) == 0;
#endif
}

// An integer of Python or numpy, but not a flag; nothing if it is not one, or has more than 64 bits.
inline std::optional<std::int64_t> integer_of(PyObject* value) {
  if (PyBool_Check(value)) return std::nullopt;
  int overflow = 0;
  if (PyLong_Check(value)) {
    const std::int64_t found = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow != 0 ? std::nullopt : std::optional(found);
  }
  if (!PyIndex_Check(value)) return std::nullopt;
  PyObject* whole = PyNumber_Index(value);
  if (whole == nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  const std::int64_t found = PyLong_AsLongLongAndOverflow(whole, &overflow);
  Py_DECREF(whole);
  return overflow != 0 ? std::nullopt : std::optional(found);
}

inline std::optional<double> float_of(PyObject* value) {
  if (PyFloat_Check(value)) return PyFloat_AsDouble(value);
  if (!is_numpy_float(value)) return std::nullopt;
  const double found = PyFloat_AsDouble(value);
  if (found == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return found;
}

// A finite number, NaN if it is missing.
inline bool number_of(PyObject* value, double& number) {
  if (const std::optional<double> found = float_of(value)) {
    number = *found;
    return !std::isinf(number);
  }
  const std::optional<std::int64_t> whole = integer_of(value);
  if (!whole) return false;
  number = static_cast<double>(*whole);
  return true;
}

inline constexpr int kMissingFlag = -1, kUnseenFlag = -2;

// 0 or 1, kMissingFlag, or kUnseenFlag for another number; nothing for a text that is not a flag.
inline std::optional<int> flag_of(PyObject* value) {
  if (PyBool_Check(value)) return value == Py_True;
  if (PyUnicode_Check(value)) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(value, &size);
    if (bytes == nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
    return flag_of_text({bytes, static_cast<std::size_t>(size)});
  }
  double number = 0;
  if (!number_of(value, number)) return std::nullopt;
  if (std::isnan(number)) return kMissingFlag;
  return number == 0 || number == 1 ? static_cast<int>(number) : kUnseenFlag;
}

// The text of a level: a text as it is, a whole number in decimal.
class LevelText {
 public:
  bool of(PyObject* value) {
    if (PyUnicode_Check(value)) {
      Py_ssize_t size = 0;
      const char* bytes = PyUnicode_AsUTF8AndSize(value, &size);
      if (bytes == nullptr) {
        PyErr_Clear();
        return false;
      }
      view_ = {bytes, static_cast<std::size_t>(size)};
      return true;
    }
    if (const std::optional<double> number = float_of(value)) {
      missing_ = std::isnan(*number);
      return missing_ || of(*number);
    }
    const std::optional<std::int64_t> whole = integer_of(value);
    return whole && of(*whole);
  }

  // False for a number that is not an integer, whose shortest text Python knows.
  bool of(double number) {
    if (!(std::fabs(number) < 0x1p53) || number != std::floor(number)) return false;
    return of(static_cast<std::int64_t>(number));
  }

  bool of(std::int64_t whole) {
    const auto end = std::to_chars(digits_, digits_ + sizeof digits_, whole);
    view_ = {digits_, static_cast<std::size_t>(end.ptr - digits_)};
    return true;
  }

  bool missing() const { return missing_; }
  std::string_view view() const { return view_; }

 private:
  char digits_[24];
  std::string_view view_;
  bool missing_ = false;
};

}  // namespace bayesbox
