// Python arrays through the buffer protocol, which keeps byte strides and needs no alignment.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/column.hpp"

namespace bayesbox {

namespace nb = nanobind;

class Buffer {
 public:
  Buffer(nb::handle object, const char* what);
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

  // Each raises an error for another array.
  const Buffer& need_dimensions(int count) const;
  const Buffer& need_length(int axis, std::size_t length_wanted) const;
  const Buffer& need_kind(Kind kind, const char* name) const;
  const Buffer& need_integer() const;

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
  std::vector<double> doubles() const;
  // The doubles themselves if they are contiguous, else null.
  const double* doubles_in_place() const;
  std::vector<std::int64_t> integers() const;

  [[noreturn]] void refuse(const std::string& reason) const;
  [[noreturn]] void refuse_type(const std::string& reason) const;

 private:
  Kind kind_of(const char* format, Py_ssize_t size);
  Kind unsupported();

  const char* what_;
  Py_buffer view_{};
  Kind kind_ = Kind::float64;
  bool held_ = false;
};

}  // namespace bayesbox
