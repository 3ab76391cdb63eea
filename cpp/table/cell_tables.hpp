// Counts of the cells of a grid (see grid.hpp), a table of all cells for each pair of a column and a class.
//
// A value costs a load, a shift and an increment, and nothing is asked of it: the first bits of a double are its cell, and
// every cell has a place, those of NaN too. The tables are large, but hardly any of it is touched: pages of memory that
// nothing was written to are not there, and reading off a table ends as soon as all of its values are found.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "table/grid.hpp"

namespace bayesbox {

// Memory of zeros that takes pages as they are written to, where the system has such a thing.
class ZeroPages {
 public:
  explicit ZeroPages(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
#if defined(__linux__)
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    madvise(memory_, bytes, MADV_NOHUGEPAGE);  // a large page would be cleared for a few cells
#else
    memory_ = std::calloc(bytes, 1);
    if (memory_ == nullptr) throw std::bad_alloc();
#endif
  }
  ~ZeroPages() {
    if (bytes_ == 0) return;
#if defined(__linux__)
    munmap(memory_, bytes_);
#else
    std::free(memory_);
#endif
  }
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;

  void* data() const { return memory_; }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

class CellTables {
 public:
  explicit CellTables(std::size_t tables) : memory_(tables * kTable * sizeof(std::uint32_t)), seen_(tables) {}

  static constexpr std::size_t kMostValues = UINT32_MAX;  // in a table

  void add(std::size_t table, const double* values, std::size_t count) {
    std::uint32_t* cells = cells_of(table);
    const std::uint32_t before = at(cells, 0) + at(cells, kNegative);
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {  // two counts a cell, so that equal neighbours do not wait for each other's store
      ++cells[place_of(values[i])];
      ++cells[place_of(values[i + 1]) + 1];
      ++cells[place_of(values[i + 2])];
      ++cells[place_of(values[i + 3]) + 1];
    }
    for (; i < count; ++i) ++cells[place_of(values[i])];
    seen_[table].values += count;
    const std::uint32_t near_zero = at(cells, 0) + at(cells, kNegative) - before;
    if (near_zero != 0) separate_zeros(seen_[table], values, count, near_zero);
  }

  // Appends the counts of a table, that of a class.
  void read(std::size_t table, std::size_t label, GridCounts& result) {
    const std::uint32_t* cells = cells_of(table);
    const Seen& seen = seen_[table];
    const auto [first, last] = range_of(cells, seen);
    for (std::size_t size = last; size-- > first;)
      result.push(label, -static_cast<std::int32_t>(size + 1), size == 0 ? seen.tiny[1] : at(cells, kNegative + size));
    result.push(label, 0, seen.zeros);
    for (std::size_t size = first; size < last; ++size)
      result.push(label, static_cast<std::int32_t>(size + 1), size == 0 ? seen.tiny[0] : at(cells, size));
  }

 private:
  // The first 15 bits of a double: its size (exponent and three bits of the mantissa), or kNegative + its size.
  static constexpr std::size_t kNegative = 16384;
  static constexpr std::size_t kSizes = kLastGridCell;  // of finite numbers; those behind are of NaN
  static constexpr std::size_t kPage = 512;             // cells in a page of memory
  static constexpr std::size_t kNearOne = 1023 * 8 - kPage / 2;    // the sizes from 2^-32 to 2^32, those of most columns,
  static constexpr std::size_t kShift = kPage - kNearOne % kPage;  // are a page when a table begins so many cells in
  static constexpr std::size_t kTable = 2 * (2 * kNegative + kPage);  // counts, two for each cell

  struct Seen {
    std::uint64_t values = 0;  // with NaN
    std::uint32_t zeros = 0;
    std::uint32_t tiny[2] = {0, 0};  // positive and negative numbers in the cells next to zero
  };

  static std::size_t place_of(double value) { return 2 * static_cast<std::size_t>(std::bit_cast<std::uint64_t>(value) >> 49); }
  static std::uint32_t at(const std::uint32_t* cells, std::size_t cell) { return cells[2 * cell] + cells[2 * cell + 1]; }
  std::uint32_t* cells_of(std::size_t table) const {
    return static_cast<std::uint32_t*>(memory_.data()) + table * kTable + 2 * kShift;
  }

  // Zeros share their cells with the smallest numbers there are, which hardly any column has.
  static void separate_zeros(Seen& seen, const double* values, std::size_t count, std::uint32_t near_zero) {
    std::uint64_t zeros = 0;
    for (std::size_t i = 0; i < count; ++i) zeros += values[i] == 0;
    seen.zeros += static_cast<std::uint32_t>(zeros);
    if (zeros == near_zero) return;
    for (std::size_t i = 0; i < count; ++i)
      if (values[i] != 0 && (place_of(values[i]) & ~(2 * kNegative)) == 0) ++seen.tiny[values[i] < 0];
  }

  static std::uint64_t sum(const std::uint32_t* cells, std::size_t first, std::size_t last) {
    std::uint64_t total = 0;
    for (std::size_t size = first; size < last; ++size) total += std::uint64_t{at(cells, size)} + at(cells, kNegative + size);
    return total;
  }

  // The sizes that hold all values of a table but for zeros and NaN: page after page is read until all are found.
  static std::pair<std::size_t, std::size_t> range_of(const std::uint32_t* cells, const Seen& seen) {
    std::size_t first = kNearOne, last = first + kPage;
    std::uint64_t left = seen.values - sum(cells, first, last);
    if (left == 0) return {first, last};
    left -= sum(cells, kSizes, kNegative) + seen.zeros;
    while (left > 0 && (first > 0 || last < kSizes)) {
      const std::size_t below = first - std::min(kPage, first), above = std::min(last + kPage, kSizes);
      left -= sum(cells, below, first) - (below == 0 && first > 0 ? seen.zeros : 0) + sum(cells, last, above);
      first = below;
      last = above;
    }
    return {first, last};
  }

  ZeroPages memory_;
  std::vector<Seen> seen_;
};

}  // namespace bayesbox
