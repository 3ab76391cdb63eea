// Walks over a large table and a smaller one whose variables are among those of the large one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/simd4.hpp"

namespace bayesbox {

// The place in the smaller table of each cell of the larger one, in its row-major order, held as blocks: the place of
// a block's first cell, and how the places go on within a block.
class IndexMap {
 public:
  IndexMap() = default;
  // sizes of the axes of the larger table; strides of the smaller one along them, 0 where it lacks the variable; whether
  // `sum` will be called
  IndexMap(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides, bool sums = true) {
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
        if (sums && block_ >= kLongBlock) list_cells(sizes, strides, split);
      }
    }
    starts_ = listed(sizes, strides, 0, split);
  }

  // Of a larger table with a first axis whose entries lie anywhere in the smaller one.
  IndexMap(std::vector<std::int32_t> first, const std::vector<std::int64_t>& sizes,
           const std::vector<std::int64_t>& strides, bool sums = true)
      : IndexMap(sizes, strides, sums) {
    if (block_ == 1 && starts_.size() == 1) {
      block_ = static_cast<std::int64_t>(first.size());
      within_ = Within::listed;
      places_ = std::move(first);
      return;
    }
    std::vector<std::int32_t> all;
    all.reserve(first.size() * starts_.size());
    for (const std::int32_t place : first)
      for (const std::int32_t start : starts_) all.push_back(place + start);
    starts_ = std::move(all);
  }

  std::int64_t cells() const { return block_ * static_cast<std::int64_t>(starts_.size()); }

  // large *= small
  void multiply(double* large, const double* small) const {
    const std::int64_t some = std::max<std::int64_t>(kCellsAPoll / block_, 1) * block_;
    for (std::int64_t first = 0; first < cells(); first += some) {
      const std::int64_t count = std::min(some, cells() - first);
      poll(static_cast<std::size_t>(count));
      multiply(large + first, large + first, small, first, count);
    }
  }

  // product = large * small, for `count` cells from `first` on, to the first of which product and large point: whole
  // blocks or a part of one. They may be the same.
  void multiply(double* product, const double* large, const double* small, std::int64_t first,
                std::int64_t count) const {
    const std::int32_t* start = starts_.data() + first / block_;
    const std::int64_t offset = count < block_ ? first % block_ : 0;
    const std::int64_t each = std::min(count, block_), end = count / each;
    if (within_ == Within::constant) {
      for_length(each, [=](auto length) {
        for (std::int64_t b = 0; b < end; ++b)
          scale(product + b * length(), large + b * length(), small[start[b]], length());
      });
    } else if (within_ == Within::running) {
      for_length(each, [=, from = small + offset](auto length) {
        for (std::int64_t b = 0; b < end; ++b)
          bayesbox::multiply(product + b * length(), large + b * length(), from + start[b], length());
      });
    } else {
      const std::int32_t* places = places_.data() + offset;
      for (std::int64_t b = 0; b < end; ++b, product += each, large += each)
        for (std::int64_t i = 0; i < each; ++i) product[i] = large[i] * small[start[b] + places[i]];
    }
  }

  // small += large, summed over what the smaller one lacks
  void sum(double* small, const double* large) const {
    poll(static_cast<std::size_t>(cells()));
    sum(small, large, 0, cells());
  }

  void sum(double* small, const double* large, std::int64_t first, std::int64_t count) const {
    const std::int32_t* start = starts_.data() + first / block_;
    const std::int64_t offset = count < block_ ? first % block_ : 0;
    const std::int64_t each = std::min(count, block_), end = count / each;
    if (within_ == Within::constant) {
      for_length(each, [=](auto length) {
        for (std::int64_t b = 0; b < end; ++b) small[start[b]] += total_of(large + b * length(), length());
      });
    } else if (within_ == Within::running) {
      for_length(each, [=, to = small + offset](auto length) { sum_running(length, to, large, start, end); });
    } else if (cells_.empty() || count < block_) {
      const std::int32_t* places = places_.data() + offset;
      for (std::int64_t b = 0; b < end; ++b, large += each)
        for (std::int64_t i = 0; i < each; ++i) small[start[b] + places[i]] += large[i];
    } else {
      for (std::int64_t b = 0; b < end; ++b, large += each) {
        const std::int32_t* cell = cells_.data();
        for (const std::int32_t place : distinct_) {
          double sums[4] = {0, 0, 0, 0};  // as in total_of
          std::int64_t i = 0;
          for (; i + 4 <= shared_; i += 4)
            for (std::int64_t k = 0; k < 4; ++k) sums[k] += large[*cell++];
          for (; i < shared_; ++i) sums[0] += large[*cell++];
          small[start[b] + place] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
      }
    }
  }

  // Where a cell of the larger table goes.
  std::int64_t place(std::int64_t cell) const {
    const std::int64_t within = cell % block_, start = starts_[static_cast<std::size_t>(cell / block_)];
    if (within_ == Within::constant) return start;
    return start + (within_ == Within::running ? within : places_[static_cast<std::size_t>(within)]);
  }

 private:
  enum class Within { constant, running, listed };
  static constexpr std::int64_t kWorthwhile = 4;
  static constexpr std::int64_t kLongBlock = 32;  // from which it pays to know the cells of each place
  static constexpr std::int64_t kLargestBlock = 1024;
  static constexpr std::int64_t kCellsAPoll = 1 << 20;

  // Blocks that go to the same places one after another are added to each other first: what was just written need not be
  // read again before it is there.
  template <class Length>
  static void sum_running(Length length, double* small, const double* large, const std::int32_t* start,
                          std::int64_t end) {
    for (std::int64_t b = 0; b < end;) {
      double* to = small + start[b];
      if (b + 4 <= end && start[b + 1] == start[b] && start[b + 2] == start[b] && start[b + 3] == start[b]) {
        const double *second = large + length(), *third = second + length(), *fourth = third + length();
        std::int64_t i = 0;
        for (; i + 4 <= length(); i += 4)
          four(to + i) += (four(large + i) + four(second + i)) + (four(third + i) + four(fourth + i));
        for (; i < length(); ++i) to[i] += (large[i] + second[i]) + (third[i] + fourth[i]);
        large = fourth + length();
        b += 4;
      } else if (b + 2 <= end && start[b + 1] == start[b]) {
        const double* second = large + length();
        std::int64_t i = 0;
        for (; i + 4 <= length(); i += 4) four(to + i) += four(large + i) + four(second + i);
        for (; i < length(); ++i) to[i] += large[i] + second[i];
        large = second + length();
        b += 2;
      } else {
        add(to, large, length());
        large += length();
        ++b;
      }
    }
  }

  // The inverse map: the places of a block, and the cells of each, equally many for all. The
  // axes that the smaller table has come first, so that the cells of a place follow one another.
  void list_cells(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides, std::size_t split) {
    std::vector<std::int64_t> of_places, place_strides, of_cells, cell_strides, rest, rest_strides;
    std::int64_t stride = block_;
    for (std::size_t axis = split; axis < sizes.size(); ++axis) {
      stride /= sizes[axis];
      if (strides[axis] != 0) {
        of_places.push_back(sizes[axis]), place_strides.push_back(strides[axis]);
        of_cells.push_back(sizes[axis]), cell_strides.push_back(stride);
      } else {
        rest.push_back(sizes[axis]), rest_strides.push_back(stride);
        shared_ *= sizes[axis];
      }
    }
    of_cells.insert(of_cells.end(), rest.begin(), rest.end());
    cell_strides.insert(cell_strides.end(), rest_strides.begin(), rest_strides.end());
    distinct_ = listed(of_places, place_strides, 0, of_places.size());
    cells_ = listed(of_cells, cell_strides, 0, of_cells.size());
  }

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
      poll_at(static_cast<std::size_t>(&each - places.data()), 4);
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
  std::vector<std::int32_t> distinct_, cells_;  // of a long listed block: its places, and the cells of each
  std::int64_t shared_ = 1;                     // cells to a place
};

}  // namespace bayesbox
