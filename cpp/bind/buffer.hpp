// Python arrays seen through the buffer protocol, which keeps byte strides and asks for no alignment.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/column.hpp"

namespace bayesbox {

namespace nb = nanobind;

class Buffer {
 public:
  Buffer(nb::handle object, const char* what) : what_(what) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      refuse_type("is no array of numbers");
    }
    held_ = true;
    kind_ = kind_of(view_.format, view_.itemsize);
  }
  Buffer(Buffer&& other) noexcept
      : what_(other.what_), view_(other.view_), kind_(other.kind_), held_(std::exchange(other.held_, false)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (held_) PyBuffer_Release(&view_);
  }

  int dimensions() const { return view_.ndim; }
  Kind kind() const { return kind_; }
  std::size_t length(int axis) const { return static_cast<std::size_t>(view_.shape[axis]); }

  const Buffer& need_dimensions(int count) const {
    if (view_.ndim != count) refuse("must have " + std::to_string(count) + " dimension(s)");
    return *this;
  }
  const Buffer& need_length(int axis, std::size_t length_wanted) const {
    if (length(axis) != length_wanted)
      refuse("has length " + std::to_string(length(axis)) + ", expected " + std::to_string(length_wanted));
    return *this;
  }
  const Buffer& need_kind(Kind kind, const char* name) const {
    if (kind_ != kind) refuse_type(std::string("must be of type ") + name);
    return *this;
  }
  const Buffer& need_integer() const {
    if (is_floating(kind_)) refuse_type("must be of an integer type");
    return *this;
  }

  // A one-dimensional array as a column.
  Column column() const {
    need_dimensions(1);
    return {static_cast<const char*>(view_.buf), view_.strides[0], length(0), kind_};
  }
  // Row `row` of a two-dimensional array.
  Column row(std::size_t row) const {
    return {static_cast<const char*>(view_.buf) + static_cast<std::int64_t>(row) * view_.strides[0], view_.strides[1],
            length(1), kind_};
  }
  // Column `column` of a two-dimensional array.
  Column column(std::size_t column) const {
    return {static_cast<const char*>(view_.buf) + static_cast<std::int64_t>(column) * view_.strides[1], view_.strides[0],
            length(0), kind_};
  }
  // A copy, row after row.
  std::vector<double> doubles() const {
    std::vector<double> values;
    if (view_.ndim == 1) {
      values.resize(length(0));
      read_doubles(column(), 0, values.size(), values.data());
    } else {
      need_dimensions(2);
      values.resize(length(0) * length(1));
      for (std::size_t i = 0; i < length(0); ++i) read_doubles(row(i), 0, length(1), values.data() + i * length(1));
    }
    return values;
  }
  // The doubles themselves where they stand row after row; else null.
  const double* doubles_in_place() const {
    Py_ssize_t stride = sizeof(double);
    for (int axis = view_.ndim - 1; axis >= 0; stride *= view_.shape[axis--])
      if (view_.shape[axis] > 1 && view_.strides[axis] != stride) return nullptr;
    const bool aligned = reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(double) == 0;
    return kind_ == Kind::float64 && aligned ? static_cast<const double*>(view_.buf) : nullptr;
  }
  std::vector<std::int64_t> integers() const {
    const Column from = need_integer().column();
    std::vector<std::int64_t> values(from.rows);
    with_integer_type(from.kind, [&]<class T>() {
      for (std::size_t i = 0; i < from.rows; ++i) values[i] = static_cast<std::int64_t>(load<T>(from.at(i)));
    });
    return values;
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw nb::value_error((std::string(what_) + ": " + reason).c_str());
  }
  [[noreturn]] void refuse_type(const std::string& reason) const {
    throw nb::type_error((std::string(what_) + ": " + reason).c_str());
  }

 private:
  Kind kind_of(const char* format, Py_ssize_t size) {
    // `=`, `@` and the machine's own order are read; the other byte order is not.
    const char own = std::endian::native == std::endian::little ? '<' : '>';
    if (format != nullptr && (*format == '@' || *format == '=' || *format == own)) ++format;
    if (format == nullptr || format[0] == '\0' || format[1] != '\0') return unsupported();
    switch (*format) {
      case '?': return Kind::uint8;
      case 'b': case 'h': case 'i': case 'l': case 'q': case 'n':
        return size == 1 ? Kind::int8 : size == 2 ? Kind::int16 : size == 4 ? Kind::int32 : Kind::int64;
      case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N':
        return size == 1 ? Kind::uint8 : size == 2 ? Kind::uint16 : size == 4 ? Kind::uint32 : Kind::uint64;
      case 'f': return Kind::float32;
      case 'd': return Kind::float64;
      default: return unsupported();
    }
  }
  Kind unsupported() {
    PyBuffer_Release(&view_);  // the destructor does not run for an object that was not built
    held_ = false;
    refuse_type("has an unsupported element type");
  }

  const char* what_;
  Py_buffer view_{};
  Kind kind_ = Kind::float64;
  bool held_ = false;
};

}  // namespace bayesbox
