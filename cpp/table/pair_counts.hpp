// Class x level x level counts of every pair of columns of codes, and class x level counts of every column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/column.hpp"
#include "core/interrupt.hpp"
#include "table/pair_layout.hpp"

namespace bayesbox {

// The counts of one block at a time: every code of the block is a byte by then, and while a pair is counted its table
// and its two columns stay in the nearest cache. A missing code has a row of its own, so that no row needs a branch.
class PairCounter {
 public:
  static constexpr std::size_t kBlock = 4096;

  explicit PairCounter(const PairLayout& layout) : layout_(layout) {
    const std::vector<std::size_t>& sizes = layout.sizes();
    std::size_t cells = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      cells += rows_of(i);
      for (std::size_t j = i + 1; j < sizes.size(); ++j) cells += rows_of(i) * (sizes[j] + 1);
    }
    counts_.assign(cells, 0);
    codes_.resize(sizes.size() * kBlock);
    labels_.resize(kBlock);
    rows_.resize(kBlock);
  }

  void add(const std::vector<Column>& columns, const Column& target, std::size_t begin, std::size_t count) {
    read_labels(target, begin, count);
    const std::vector<std::size_t>& sizes = layout_.sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i) read_codes(columns[i], sizes[i], begin, count, &codes_[i * kBlock]);
    std::uint32_t* counts = counts_.data();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      poll(count * (sizes.size() - i));
      const std::uint8_t* first = &codes_[i * kBlock];
      const std::uint32_t width = static_cast<std::uint32_t>(sizes[i] + 1);
      for (std::size_t row = 0; row < count; ++row) {
        rows_[row] = labels_[row] * width + first[row];
        ++counts[rows_[row]];
      }
      counts += rows_of(i);
      for (std::size_t j = i + 1; j < sizes.size(); ++j) {
        add_pair(counts, &codes_[j * kBlock], static_cast<std::uint32_t>(sizes[j] + 1), count);
        counts += rows_of(i) * (sizes[j] + 1);
      }
    }
  }

  // The counts without what is missing.
  std::vector<std::int64_t> finish() const {
    std::vector<std::int64_t> result;
    result.reserve(layout_.cells());
    const std::vector<std::size_t>& sizes = layout_.sizes();
    const std::uint32_t* counts = counts_.data();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      counts = keep(counts, sizes[i], 1, 1, result);
      for (std::size_t j = i + 1; j < sizes.size(); ++j) counts = keep(counts, sizes[i], sizes[j] + 1, sizes[j], result);
    }
    return result;
  }

 private:
  std::size_t rows_of(std::size_t i) const { return (layout_.classes() + 1) * (layout_.sizes()[i] + 1); }

  void add_pair(std::uint32_t* counts, const std::uint8_t* second, std::uint32_t width, std::size_t count) const {
    std::size_t row = 0;
    for (; row + 4 <= count; row += 4) {
      const std::uint32_t a = rows_[row] * width + second[row], b = rows_[row + 1] * width + second[row + 1];
      const std::uint32_t c = rows_[row + 2] * width + second[row + 2], d = rows_[row + 3] * width + second[row + 3];
      ++counts[a];
      ++counts[b];
      ++counts[c];
      ++counts[d];
    }
    for (; row < count; ++row) ++counts[rows_[row] * width + second[row]];
  }

  void read_labels(const Column& target, std::size_t begin, std::size_t count) {
    const std::size_t classes = layout_.classes();
    for (std::size_t row = 0; row < count; ++row) {
      const auto label = static_cast<std::uint32_t>(load<std::int32_t>(target.at(begin + row)));
      labels_[row] = label < classes ? label : static_cast<std::uint32_t>(classes);
    }
  }

  static void read_codes(const Column& column, std::size_t size, std::size_t begin, std::size_t count,
                         std::uint8_t* codes) {
    with_integer_type(column.kind, [&]<class T>() {
      const char* at = column.at(begin);
      for (std::size_t row = 0; row < count; ++row, at += column.stride) {
        const auto code = static_cast<std::uint64_t>(static_cast<std::int64_t>(load<T>(at)));  // negative: far beyond
        codes[row] = static_cast<std::uint8_t>(std::min<std::uint64_t>(code, size));
      }
    });
  }

  // Appends classes x size x kept of a table of (classes + 1) x (size + 1) x width.
  const std::uint32_t* keep(const std::uint32_t* counts, std::size_t size, std::size_t width, std::size_t kept,
                            std::vector<std::int64_t>& to) const {
    for (std::size_t c = 0; c < layout_.classes(); ++c)
      for (std::size_t a = 0; a < size; ++a) {
        const std::uint32_t* from = counts + (c * (size + 1) + a) * width;
        to.insert(to.end(), from, from + kept);
      }
    return counts + (layout_.classes() + 1) * (size + 1) * width;
  }

  const PairLayout& layout_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> rows_;
};

// Codes outside [0, size) are missing; a target outside [0, classes) leaves its row out.
inline std::vector<std::int64_t> count_pairs(const std::vector<Column>& columns, const Column& target,
                                             const PairLayout& layout) {
  if (target.rows > UINT32_MAX) throw std::length_error("more rows than can be counted at once");
  PairCounter counter(layout);
  for (std::size_t begin = 0; begin < target.rows; begin += PairCounter::kBlock)
    counter.add(columns, target, begin, std::min(PairCounter::kBlock, target.rows - begin));
  return counter.finish();
}

}  // namespace bayesbox
