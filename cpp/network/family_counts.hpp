// How often the combinations of some columns occur: many sets of columns in one walk over the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/interrupt.hpp"

namespace bayesbox {

// A column of codes below `size`, as narrow as they go.
struct CodeColumn {
  const std::uint8_t* bytes = nullptr;     // one of the two is set
  const std::uint16_t* words = nullptr;
  std::int64_t size = 1;

  std::uint32_t at(std::size_t row) const { return bytes != nullptr ? bytes[row] : words[row]; }
};

// The columns of a table whose cells are counted: row-major, the last fastest.
using Members = std::vector<std::uint32_t>;

// The cells of a table; the largest number where they are more than can be numbered.
inline std::int64_t cells_of(const std::vector<CodeColumn>& columns, const Members& members) {
  std::int64_t cells = 1;
  for (const std::uint32_t member : members) {
    const std::int64_t size = columns[member].size;
    if (cells > std::numeric_limits<std::int64_t>::max() / size) return std::numeric_limits<std::int64_t>::max();
    cells *= size;
  }
  return cells;
}

// Counts dense tables. Rows are walked in blocks that stay in the cache; within a block, a table that begins with the
// same columns as the one before it goes on from their places.
class FamilyCounter {
 public:
  static constexpr std::size_t kBlock = 4096;
  static constexpr std::int64_t kSpread = 512;  // cells up to which four copies take turns, so that no row waits

  FamilyCounter(const std::vector<CodeColumn>& columns, std::size_t rows) : columns_(columns), rows_(rows) {}

  // One table for each entry of `families`, none of them empty; every table must have fewer than 2^31 cells.
  std::vector<std::vector<std::uint32_t>> count(const std::vector<Members>& families) const {
    std::vector<std::vector<std::uint32_t>> tables(families.size());
    std::vector<std::int64_t> cells(families.size());
    std::size_t deepest = 0;
    for (std::size_t f = 0; f < families.size(); ++f) {
      cells[f] = cells_of(columns_, families[f]);
      tables[f].assign(static_cast<std::size_t>(cells[f] <= kSpread ? 4 * cells[f] : cells[f]), 0);
      deepest = std::max(deepest, families[f].size());
    }
    std::vector<std::vector<std::uint32_t>> places(deepest, std::vector<std::uint32_t>(kBlock));
    for (std::size_t begin = 0; begin < rows_; begin += kBlock) {
      const std::size_t count = std::min(kBlock, rows_ - begin);
      std::size_t ready = 0;  // columns of the family before whose places stand
      for (std::size_t f = 0; f < families.size(); ++f) {
        const Members& family = families[f];
        std::size_t depth = 0;
        poll(count);
        if (f > 0)
          while (depth < ready && depth + 1 < family.size() && family[depth] == families[f - 1][depth]) ++depth;
        for (; depth + 1 < family.size(); ++depth) extend(family[depth], depth, begin, count, places);
        ready = family.size() - 1;
        const std::uint32_t* base = family.size() > 1 ? places[family.size() - 2].data() : nullptr;
        add(columns_[family.back()], base, begin, count, cells[f], tables[f].data());
      }
    }
    for (std::size_t f = 0; f < families.size(); ++f) {
      if (cells[f] > kSpread) continue;
      const auto size = static_cast<std::size_t>(cells[f]);
      for (std::size_t i = 0; i < size; ++i)
        tables[f][i] += tables[f][size + i] + tables[f][2 * size + i] + tables[f][3 * size + i];
      tables[f].resize(size);
    }
    return tables;
  }

  // The places of the rows in a table of any size below 2^63.
  std::vector<std::uint64_t> places(const Members& family) const {
    std::vector<std::uint64_t> found(rows_, 0);
    for (const std::uint32_t member : family) {
      const auto size = static_cast<std::uint64_t>(columns_[member].size);
      poll(rows_);
      for (std::size_t i = 0; i < rows_; ++i) found[i] = found[i] * size + columns_[member].at(i);
    }
    return found;
  }

 private:
  template <class T>
  static void step(const T* codes, std::uint32_t size, const std::uint32_t* from, std::uint32_t* to,
                   std::size_t count) {
    if (from == nullptr)
      for (std::size_t i = 0; i < count; ++i) to[i] = codes[i];
    else
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i] * size + codes[i];
  }
  void extend(std::uint32_t member, std::size_t depth, std::size_t begin, std::size_t count,
              std::vector<std::vector<std::uint32_t>>& places) const {
    const CodeColumn& column = columns_[member];
    const std::uint32_t* from = depth > 0 ? places[depth - 1].data() : nullptr;
    const auto size = static_cast<std::uint32_t>(column.size);
    if (column.bytes != nullptr)
      step(column.bytes + begin, size, from, places[depth].data(), count);
    else
      step(column.words + begin, size, from, places[depth].data(), count);
  }

  template <class T>
  static void tally(const T* codes, std::uint32_t size, const std::uint32_t* base, std::size_t count,
                    std::int64_t cells, std::uint32_t* table) {
    if (cells > kSpread) {
      if (base == nullptr)
        for (std::size_t i = 0; i < count; ++i) ++table[codes[i]];
      else
        for (std::size_t i = 0; i < count; ++i) ++table[base[i] * size + codes[i]];
      return;
    }
    std::uint32_t *one = table, *two = one + cells, *three = two + cells, *four = three + cells;
    std::size_t i = 0;
    if (base == nullptr) {
      for (; i + 4 <= count; i += 4) ++one[codes[i]], ++two[codes[i + 1]], ++three[codes[i + 2]], ++four[codes[i + 3]];
      for (; i < count; ++i) ++one[codes[i]];
    } else {
      for (; i + 4 <= count; i += 4) {
        ++one[base[i] * size + codes[i]];
        ++two[base[i + 1] * size + codes[i + 1]];
        ++three[base[i + 2] * size + codes[i + 2]];
        ++four[base[i + 3] * size + codes[i + 3]];
      }
      for (; i < count; ++i) ++one[base[i] * size + codes[i]];
    }
  }
  void add(const CodeColumn& column, const std::uint32_t* base, std::size_t begin, std::size_t count,
           std::int64_t cells, std::uint32_t* table) const {
    const auto size = static_cast<std::uint32_t>(column.size);
    if (column.bytes != nullptr)
      tally(column.bytes + begin, size, base, count, cells, table);
    else
      tally(column.words + begin, size, base, count, cells, table);
  }

  const std::vector<CodeColumn>& columns_;
  std::size_t rows_;
};

}  // namespace bayesbox
