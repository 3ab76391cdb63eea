// Checked arguments from Python: sizes, columns, labels and weights.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bind/buffer.hpp"
#include "core/exact_array.hpp"

namespace bayesbox {

// A non-negative number of cells, classes or levels from Python.
inline std::size_t as_size(std::int64_t value, const char* what) {
  if (value < 0) throw nb::value_error((std::string(what) + ": negative").c_str());
  return static_cast<std::size_t>(value);
}

inline std::vector<std::size_t> sizes_from(nb::handle object, const char* what) {
  const Buffer buffer(object, what);
  std::vector<std::size_t> sizes;
  for (const std::int64_t size : buffer.integers()) {
    if (size < 0) buffer.refuse("negative");
    sizes.push_back(static_cast<std::size_t>(size));
  }
  return sizes;
}

// The product of two sizes, if that many numbers could fit in memory.
inline std::size_t checked_product(std::size_t a, std::size_t b) {
  if (a != 0 && b > ExactArray::kMostLimbs / a) throw nb::value_error("the result does not fit in memory");
  return a * b;
}

inline std::size_t few_classes(std::size_t classes) {
  if (classes < 1 || classes > (std::size_t{1} << 20)) throw nb::value_error("classes: out of range");
  return classes;
}

// Columns held open during a call.
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

// The class of each row, not yet checked.
inline Buffer target_of(nb::handle object) {
  Buffer target(object, "target");
  target.need_dimensions(1).need_kind(Kind::int32, "int32");
  return target;
}

// A row with a negative class is dropped; a class beyond the last is an error.
inline void need_classes(const Buffer& target, std::size_t classes) {
  const std::int64_t most = largest_label(target.column());
  if (most >= 0 && static_cast<std::size_t>(most) >= classes)
    target.refuse("class " + std::to_string(most) + " of " + std::to_string(classes));
}

inline Buffer target_of(nb::handle object, std::size_t classes) {
  Buffer target = target_of(object);
  need_classes(target, classes);
  return target;
}

inline std::optional<Buffer> weights_of(nb::handle object, std::size_t rows) {
  if (object.is_none()) return std::nullopt;
  std::optional<Buffer> weights(std::in_place, object, "weights");
  weights->need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, rows);
  const Column column = weights->column();
  for (std::size_t row = 0; row < rows; ++row)
    if (!std::isfinite(load<double>(column.at(row)))) weights->refuse("not finite");
  return weights;
}

}  // namespace bayesbox
