// What each change of one parent makes of the score of a family: the family with a parent more, for many candidates, and
// with a parent less.
//
// Candidates are counted several at a time. Columns of few states are joined beforehand into one column of codes (a
// group); one walk over the rows counts the family against a group, and the table is summed down to each column of it.
// A table has the family's combination fastest (the child within it), so that these sums are over runs of memory.
// Families with one parent less are sums of the family's own table: they are not counted at all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "network/family_counts.hpp"
#include "network/family_score.hpp"

namespace bayesbox {

class FamilyChanges {
 public:
  static constexpr std::int64_t kWidest = 256;         // combinations of a group: a byte
  static constexpr std::int64_t kNarrow = 20;          // of the smaller groups, for families of more cells
  static constexpr std::int64_t kFewCells = 6144;      // of a table for a group: what stays in the nearest cache
  static constexpr std::int64_t kMostCells = 1 << 22;  // of any table; fewer where there are few rows

  FamilyChanges(const std::vector<CodeColumn>& columns, std::size_t rows) : columns_(columns), rows_(rows) {
    std::vector<std::uint32_t> order(columns.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return columns[a].size < columns[b].size; });
    for (const std::int64_t widest : {kWidest, kNarrow}) join(order, widest, groups_.emplace_back());
  }

  // Whether the tables of a family with one of the candidates can be counted here.
  bool fits(std::uint32_t child, const Members& parents, const Members& candidates) const {
    const std::int64_t own = cells_of(columns_, with(parents, child));
    std::int64_t widest = 1;
    for (const std::uint32_t each : candidates) widest = std::max(widest, columns_[each].size);
    const std::int64_t most = std::min(kMostCells, std::max(std::int64_t{1} << 16, 8 * static_cast<std::int64_t>(rows_)));
    return own <= most / widest;
  }

  // The score of the family as it is, and those with each candidate added, or taken away where it is a parent.
  double scores(std::uint32_t child, const Members& parents, const Members& candidates, const FamilyScore& score,
                double* changed) const {
    const Members family = with(parents, child);
    const auto states = columns_[child].size;
    const auto cells = static_cast<std::size_t>(cells_of(columns_, family));
    const std::vector<std::uint32_t> place = places(family);
    std::vector<std::uint32_t> own(cells, 0);
    for (const std::uint32_t each : place) ++own[each];
    std::vector<std::int64_t> wanted(columns_.size(), -1);  // where the score of a column goes
    for (std::size_t i = 0; i < candidates.size(); ++i) wanted[candidates[i]] = static_cast<std::int64_t>(i);
    for (std::size_t k = 0; k < parents.size(); ++k) {
      if (wanted[parents[k]] < 0) continue;
      changed[wanted[parents[k]]] = without(own, family, k, states, score);
      wanted[parents[k]] = -1;
    }
    wanted[child] = -1;
    Scratch scratch;
    const auto few = kFewCells / static_cast<std::int64_t>(cells);
    const std::size_t level = few >= kWidest ? 0 : few >= kNarrow ? 1 : groups_.size();
    if (level < groups_.size()) {
      for (const Group& group : groups_[level]) add_group(group, place, cells, states, score, wanted, changed, scratch);
    }
    for (std::uint32_t j = 0; j < columns_.size(); ++j) {  // those of many states, and those of a family of many cells
      if (wanted[j] < 0) continue;
      add_column(columns_[j], place, cells, scratch);
      changed[wanted[j]] = scored(scratch.table, columns_[j].size, cells, states, score);
    }
    return scored(own, 1, cells, states, score);
  }

 private:
  struct Group {
    Members members;
    std::int64_t size = 1;
    std::vector<std::uint8_t> codes;  // the first member slowest
  };
  struct Scratch {
    std::vector<std::uint16_t> few;
    std::vector<std::uint32_t> table, part;
  };
  static constexpr std::size_t kTurns = 4;             // copies of a small table that take turns
  static constexpr std::size_t kBatch = 4 * 65'535;    // rows after which a count of 16 bits may be full

  static Members with(const Members& parents, std::uint32_t child) {
    Members family = parents;
    family.push_back(child);
    return family;
  }

  // Groups of at least two columns with at most `widest` combinations.
  void join(const std::vector<std::uint32_t>& order, std::int64_t widest, std::vector<Group>& groups) const {
    Group group;
    for (const std::uint32_t column : order) {
      const std::int64_t size = columns_[column].size;
      if (!group.members.empty() && group.size * size > widest) close(std::exchange(group, {}), groups);
      if (size > widest / 2) break;
      group.size *= size;
      group.members.push_back(column);
    }
    close(std::move(group), groups);
  }
  void close(Group group, std::vector<Group>& groups) const {
    if (group.members.size() < 2) return;
    group.codes.assign(rows_, 0);
    for (const std::uint32_t member : group.members) {
      const auto size = static_cast<std::uint8_t>(columns_[member].size);
      const std::uint8_t* codes = columns_[member].bytes;
      poll(rows_);
      if (codes != nullptr)
        for (std::size_t i = 0; i < rows_; ++i) group.codes[i] = static_cast<std::uint8_t>(group.codes[i] * size + codes[i]);
      else
        for (std::size_t i = 0; i < rows_; ++i)
          group.codes[i] = static_cast<std::uint8_t>(group.codes[i] * size + columns_[member].words[i]);
    }
    groups.push_back(std::move(group));
  }

  std::vector<std::uint32_t> places(const Members& family) const {
    std::vector<std::uint32_t> found(rows_, 0);
    for (const std::uint32_t member : family) {
      const auto size = static_cast<std::uint32_t>(columns_[member].size);
      const CodeColumn& column = columns_[member];
      poll(rows_);
      if (column.bytes != nullptr)
        for (std::size_t i = 0; i < rows_; ++i) found[i] = found[i] * size + column.bytes[i];
      else
        for (std::size_t i = 0; i < rows_; ++i) found[i] = found[i] * size + column.words[i];
    }
    return found;
  }

  static double scored(const std::vector<std::uint32_t>& table, std::int64_t others, std::size_t cells,
                       std::int64_t states, const FamilyScore& score) {
    return score.dense(table.data(), others * static_cast<std::int64_t>(cells) / states, states, 1);
  }

  // The score without the parent at `axis`.
  double without(const std::vector<std::uint32_t>& own, const Members& family, std::size_t axis, std::int64_t states,
                 const FamilyScore& score) const {
    std::size_t inner = 1;
    for (std::size_t k = axis + 1; k < family.size(); ++k) inner *= static_cast<std::size_t>(columns_[family[k]].size);
    const auto size = static_cast<std::size_t>(columns_[family[axis]].size);
    const std::size_t outer = own.size() / (inner * size);
    std::vector<std::uint32_t> rest(outer * inner, 0);
    for (std::size_t i = 0; i < outer; ++i)
      for (std::size_t k = 0; k < size; ++k)
        for (std::size_t j = 0; j < inner; ++j) rest[i * inner + j] += own[(i * size + k) * inner + j];
    return scored(rest, 1, rest.size(), states, score);
  }

  void add_group(const Group& group, const std::vector<std::uint32_t>& place, std::size_t cells, std::int64_t states,
                 const FamilyScore& score, std::vector<std::int64_t>& wanted, double* changed, Scratch& scratch) const {
    if (std::none_of(group.members.begin(), group.members.end(), [&](std::uint32_t m) { return wanted[m] >= 0; })) return;
    const std::size_t all = cells * static_cast<std::size_t>(group.size);
    count_few(group.codes.data(), place, cells, all, scratch);
    std::size_t inner = static_cast<std::size_t>(group.size), outer = 1;
    for (const std::uint32_t member : group.members) {
      const auto size = static_cast<std::size_t>(columns_[member].size);
      inner /= size;
      if (wanted[member] >= 0) {
        scratch.part.assign(size * cells, 0);
        const std::uint32_t* from = scratch.table.data();
        for (std::size_t i = 0; i < outer; ++i)
          for (std::size_t k = 0; k < size; ++k) {
            std::uint32_t* to = scratch.part.data() + k * cells;
            for (std::size_t j = 0; j < inner; ++j, from += cells)
              for (std::size_t b = 0; b < cells; ++b) to[b] += from[b];
          }
        poll(all);
        changed[wanted[member]] = scored(scratch.part, columns_[member].size, cells, states, score);
        wanted[member] = -1;
      }
      outer *= size;
    }
  }

  // Into scratch.table: combination of the group x cell of the family.
  template <class Code>
  void count_few(const Code* codes, const std::vector<std::uint32_t>& place, std::size_t cells, std::size_t all,
                 Scratch& scratch) const {
    scratch.table.assign(all, 0);
    for (std::size_t begin = 0; begin < rows_; begin += kBatch) {
      const std::size_t end = std::min(rows_, begin + kBatch);
      scratch.few.assign(kTurns * all, 0);
      std::uint16_t *one = scratch.few.data(), *two = one + all, *three = two + all, *four = three + all;
      poll(end - begin);
      const auto wide = static_cast<std::uint32_t>(cells);
      std::size_t i = begin;
      for (; i + 4 <= end; i += 4) {
        ++one[codes[i] * wide + place[i]];
        ++two[codes[i + 1] * wide + place[i + 1]];
        ++three[codes[i + 2] * wide + place[i + 2]];
        ++four[codes[i + 3] * wide + place[i + 3]];
      }
      for (; i < end; ++i) ++one[codes[i] * wide + place[i]];
      for (std::size_t k = 0; k < all; ++k)
        scratch.table[k] += std::uint32_t{one[k]} + two[k] + three[k] + four[k];
    }
  }

  // One column against the family.
  void add_column(const CodeColumn& column, const std::vector<std::uint32_t>& place, std::size_t cells,
                  Scratch& scratch) const {
    const std::size_t all = cells * static_cast<std::size_t>(column.size);
    if (all <= static_cast<std::size_t>(kFewCells)) {
      if (column.bytes != nullptr)
        count_few(column.bytes, place, cells, all, scratch);
      else
        count_few(column.words, place, cells, all, scratch);
      return;
    }
    scratch.table.assign(all, 0);
    poll(rows_);
    const auto wide = static_cast<std::uint32_t>(cells);
    std::uint32_t* table = scratch.table.data();
    if (column.bytes != nullptr)
      for (std::size_t i = 0; i < rows_; ++i) ++table[column.bytes[i] * wide + place[i]];
    else
      for (std::size_t i = 0; i < rows_; ++i) ++table[column.words[i] * wide + place[i]];
  }

  const std::vector<CodeColumn>& columns_;
  std::size_t rows_;
  std::vector<std::vector<Group>> groups_;  // from those of many columns to those of few
};

}  // namespace bayesbox
