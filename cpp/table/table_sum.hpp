// The sum of table terms of blocks of rows: for each row of data one row of every table.
//
// Terms are added in fours, (first + second) + (third + fourth), and the fours one after another. Where the rows of two
// or four tables are few, those sums are taken once, for every combination of their levels, and a row of data looks one
// up instead of two or four. The order of the additions is the same with and without, and so are the bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/column.hpp"
#include "core/exact_array.hpp"
#include "core/table_kernels.hpp"
#include "table/column_blocks.hpp"
#include "table/prefetch.hpp"

namespace bayesbox {

struct TableTerm {
  Column codes;
  int128 lowest;        // the value of the first row of the table
  std::size_t levels;   // the table has more rows: for a code outside and, where there can be one, for NaN
  const double* table;  // rows x classes
  bool by_class = false;  // the rows of the table are those of all levels for each class that a row may have itself
  bool nan_row = false;   // the last row is for NaN

  std::size_t table_rows(std::size_t classes) const { return (by_class ? classes : 1) * levels + 1 + nan_row; }
};

class TableSum {
 public:
  // `block`: the most rows that are added at a time, a multiple of kPad.
  TableSum(const std::vector<TableTerm>& terms, const Column& target, std::size_t rows, std::size_t classes,
           std::size_t block)
      : terms_(terms),
        target_(target),
        rows_(rows),
        classes_(classes),
        width_((classes + 3) / 4 * 4),
        block_(block),
        room_(rows < kFewRows ? 0 : kMostCombined),
        blocks_(columns_of(terms), block) {
    if (classes == 0) return;
    for (const TableTerm& term : terms) add_term(term);
    for (std::size_t first = 0; first < terms.size(); first += 4) add_four(first, std::min<std::size_t>(4, terms.size() - first));
  }

  // sums[c * block + i] += the terms of class c for row begin + i. The rows behind the last of a short block hold what
  // they held: they are summed with the rest and never read.
  void add(std::size_t begin, std::size_t count, double* sums) {
    if (fours_.empty()) return;
    // Two blocks ahead: the next is worked on before it would be there.
    const std::size_t later = std::min(begin + 2 * block_, rows_ - 1);
    const auto column_at = [this](std::size_t j) -> const Column& { return terms_[j].codes; };
    blocks_.each(begin, count, [&]<class T>(std::size_t j, const T* values) {
      find_levels(terms_[j], values, count, nodes_[j].levels.data());
      const Column& codes = terms_[j].codes;
      const bool in_rows = codes.stride != static_cast<std::int64_t>(size_of(codes.kind));
      fetch(next_block(column_at, j, terms_.size(), later, block_, in_rows), block_);
    });
    for (std::size_t j = 0; j < terms_.size(); ++j)
      if (terms_[j].by_class) move_to_class(terms_[j], begin, count, nodes_[j].levels.data());
    for (std::size_t j = terms_.size(); j < nodes_.size(); ++j) {
      const Node &left = nodes_[nodes_[j].left], &right = nodes_[nodes_[j].right];
      kernels_.combine_levels(left.levels.data(), right.levels.data(), static_cast<std::uint32_t>(left.rows), padded(count),
                              nodes_[j].levels.data());
    }
    kernels_.add_tables(fours_.data(), fours_.size(), count, classes_, sums, block_);
  }

 private:
  static constexpr std::size_t kMostRows = 256;       // of a table of sums
  static constexpr std::size_t kMostCombined = 32768;  // numbers in all tables of sums, which should stay in the cache
  static constexpr std::size_t kFewRows = 1024;        // of data, for which making tables of sums is not worth while

  // A table, of a term or of the sums of two others, and the row that each row of the block takes.
  struct Node {
    std::size_t rows;
    std::vector<double> table;  // rows x width
    std::vector<std::uint32_t> levels;
    std::size_t left = 0, right = 0;
  };

  static std::vector<Column> columns_of(const std::vector<TableTerm>& terms) {
    std::vector<Column> columns;
    for (const TableTerm& term : terms) columns.push_back(term.codes);
    return columns;
  }

  // A copy of the table whose rows are padded to a multiple of four, so that one level is whole vectors.
  void add_term(const TableTerm& term) {
    const bool no_nan = term.nan_row && !is_floating(term.codes.kind);
    Node& node = nodes_.emplace_back();
    node.rows = term.table_rows(classes_) - no_nan;
    node.table.resize(node.rows * width_);
    node.levels.resize(block_);
    for (std::size_t row = 0; row < node.rows; ++row)
      std::copy_n(term.table + row * classes_, classes_, node.table.data() + row * width_);
  }

  // Both nodes, or one in their place.
  std::vector<std::size_t> combine(std::size_t left, std::size_t right) {
    const std::size_t rows = nodes_[left].rows * nodes_[right].rows;
    if (rows > kMostRows || rows * width_ > room_) return {left, right};
    room_ -= rows * width_;
    Node node{rows, std::vector<double>(rows * width_), std::vector<std::uint32_t>(block_), left, right};
    const Node &a = nodes_[left], &b = nodes_[right];
    for (std::size_t i = 0; i < b.rows; ++i)
      for (std::size_t j = 0; j < a.rows; ++j)
        for (std::size_t c = 0; c < classes_; ++c)
          node.table[(i * a.rows + j) * width_ + c] = a.table[j * width_ + c] + b.table[i * width_ + c];
    nodes_.push_back(std::move(node));
    return {nodes_.size() - 1};
  }

  void add_four(std::size_t first, std::size_t size) {
    std::vector<std::size_t> left{first}, right;
    if (size > 1) left = combine(first, first + 1);
    if (size > 2) right = {first + 2};
    if (size > 3) right = combine(first + 2, first + 3);
    if (left.size() == 1 && right.size() == 1) {
      left = combine(left[0], right[0]);
      right.clear();
    }
    TableSumOfFour four{};
    const std::size_t tables = left.size() + right.size();
    four.shape = tables == 1   ? Shape::one
                 : tables == 2 ? Shape::two
                 : tables == 4 ? Shape::four
                 : left.size() == 2 ? Shape::left_pair
                                    : Shape::right_pair;
    left.insert(left.end(), right.begin(), right.end());
    for (std::size_t t = 0; t < tables; ++t) {
      four.table[t] = nodes_[left[t]].table.data();
      four.levels[t] = nodes_[left[t]].levels.data();
    }
    fours_.push_back(four);
  }

  template <class T>
  void find_levels(const TableTerm& term, const T* values, std::size_t count, std::uint32_t* levels) const {
    const auto outside = static_cast<std::uint32_t>(term.levels);
    if constexpr (std::is_same_v<T, float>) {
      double wide[256];
      for (std::size_t first = 0; first < count; first += 256) {
        const std::size_t some = std::min<std::size_t>(256, count - first);
        std::copy_n(values + first, some, wide);
        find_levels(term, static_cast<const double*>(wide), some, levels + first);
      }
    } else if constexpr (std::is_same_v<T, double>) {
      kernels_.levels_of_doubles(values, count, static_cast<double>(term.lowest), static_cast<double>(term.levels), outside, levels);
    } else {
      // The part of the table within the range of T, so that differences modulo 2^bits tell inside from outside.
      const int128 least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
      const int128 first = std::max(term.lowest, least);
      const int128 last = std::min(term.lowest + static_cast<int128>(term.levels) - 1, most);
      if (first > last) {
        std::fill_n(levels, count, outside);
        return;
      }
      const Window window{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last - first)};
      kernels_.levels_of[place_of(sizeof(T))](values, count, window, static_cast<std::uint32_t>(first - term.lowest), outside, levels);
    }
  }

  // From the level to the row of the table that is the level's within the row's own class.
  void move_to_class(const TableTerm& term, std::size_t begin, std::size_t count, std::uint32_t* levels) const {
    const auto width = static_cast<std::uint32_t>(term.levels), last = static_cast<std::uint32_t>(classes_ * term.levels);
    for (std::size_t i = 0; i < count; ++i) {
      const auto own = static_cast<std::uint32_t>(load<std::int32_t>(target_.at(begin + i)));
      levels[i] = levels[i] < width && own < classes_ ? own * width + levels[i] : last;
    }
  }

  const std::vector<TableTerm>& terms_;
  const Column& target_;
  std::size_t rows_;
  const TableKernels& kernels_ = table_kernels();
  std::size_t classes_;
  std::size_t width_;  // of a padded row of a table
  std::size_t block_;
  std::size_t room_;  // numbers that tables of sums may still have
  ColumnBlocks blocks_;
  std::vector<Node> nodes_;  // those of the terms first
  std::vector<TableSumOfFour> fours_;
};

}  // namespace bayesbox
