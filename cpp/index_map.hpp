// Walks over a large table and a smaller one whose variables are among those of the large one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bayesbox {

// A sum in four parts, so that no addition waits for the one before.
inline double total_of(const double* values, std::int64_t count) {
  double a = 0, b = 0, c = 0, d = 0;
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    a += values[i];
    b += values[i + 1];
    c += values[i + 2];
    d += values[i + 3];
  }
  for (; i < count; ++i) a += values[i];
  return (a + b) + (c + d);
}

// The place in the smaller table of each cell of the larger one, in its row-major order, held as blocks: the place of
// a block's first cell, and how the places go on within a block.
class IndexMap {
 public:
  IndexMap() = default;
  // sizes of the axes of the larger table; strides of the smaller one along them, 0 where it lacks the variable
  IndexMap(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
    std::size_t split = sizes.size();
    block_ = trailing(sizes, strides, 0, split);
    within_ = Within::constant;
    if (block_ < kWorthwhile && split > 0) {
      std::size_t other = sizes.size();
      const std::int64_t run = trailing(sizes, strides, 1, other);
      if (run >= kWorthwhile || other == 0) {
        block_ = run, split = other, within_ = Within::running;
      } else {
        split = sizes.size(), block_ = 1, within_ = Within::listed;
        while (split > 0 && (block_ == 1 || block_ * sizes[split - 1] <= kLargestBlock)) block_ *= sizes[--split];
        places_ = listed(sizes, strides, split, sizes.size());
      }
    }
    starts_ = listed(sizes, strides, 0, split);
  }

  // large *= small
  void multiply(double* __restrict large, const double* __restrict small) const {
    for (const std::int32_t start : starts_) {
      const double* from = small + start;
      if (within_ == Within::constant)
        for (std::int64_t i = 0; i < block_; ++i) large[i] *= *from;
      else if (within_ == Within::running)
        for (std::int64_t i = 0; i < block_; ++i) large[i] *= from[i];
      else
        for (std::int64_t i = 0; i < block_; ++i) large[i] *= from[places_[static_cast<std::size_t>(i)]];
      large += block_;
    }
  }
  // product = large * small, in one pass where a copy and `multiply` would take two
  void multiply(double* __restrict product, const double* __restrict large, const double* __restrict small) const {
    for (const std::int32_t start : starts_) {
      const double* from = small + start;
      if (within_ == Within::constant)
        for (std::int64_t i = 0; i < block_; ++i) product[i] = large[i] * *from;
      else if (within_ == Within::running)
        for (std::int64_t i = 0; i < block_; ++i) product[i] = large[i] * from[i];
      else
        for (std::int64_t i = 0; i < block_; ++i) product[i] = large[i] * from[places_[static_cast<std::size_t>(i)]];
      product += block_;
      large += block_;
    }
  }
  // small += large, summed over what the smaller one lacks
  void sum(double* __restrict small, const double* __restrict large) const {
    for (const std::int32_t start : starts_) {
      double* to = small + start;
      if (within_ == Within::constant)
        *to += total_of(large, block_);
      else if (within_ == Within::running)
        for (std::int64_t i = 0; i < block_; ++i) to[i] += large[i];
      else
        for (std::int64_t i = 0; i < block_; ++i) to[places_[static_cast<std::size_t>(i)]] += large[i];
      large += block_;
    }
  }

 private:
  enum class Within { constant, running, listed };
  static constexpr std::int64_t kWorthwhile = 4;
  static constexpr std::int64_t kLargestBlock = 1024;

  // The longest run of last axes along which the place stays (first = 0) or goes on by one (first = 1).
  static std::int64_t trailing(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                               std::int64_t first, std::size_t& split) {
    std::int64_t cells = 1;
    while (split > 0 && strides[split - 1] == first * cells) cells *= sizes[--split];
    return cells;
  }
  static std::vector<std::int32_t> listed(const std::vector<std::int64_t>& sizes,
                                          const std::vector<std::int64_t>& strides, std::size_t begin,
                                          std::size_t end) {
    std::int64_t cells = 1, place = 0;
    for (std::size_t axis = begin; axis < end; ++axis) cells *= sizes[axis];
    std::vector<std::int32_t> places(static_cast<std::size_t>(cells));
    std::vector<std::int64_t> at(end - begin, 0);
    for (std::int32_t& each : places) {
      each = static_cast<std::int32_t>(place);
      for (std::size_t axis = end; axis-- > begin;) {
        place += strides[axis];
        if (++at[axis - begin] < sizes[axis]) break;
        place -= strides[axis] * sizes[axis];
        at[axis - begin] = 0;
      }
    }
    return places;
  }

  Within within_ = Within::constant;
  std::int64_t block_ = 1;
  std::vector<std::int32_t> starts_;
  std::vector<std::int32_t> places_;
};

}  // namespace bayesbox
