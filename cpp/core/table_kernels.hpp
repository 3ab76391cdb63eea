// The inner loops over codes, compiled twice like those of kernels.hpp and under the same precautions: reading rows of
// bytes, from values to keys and levels, counting, and adding up tables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernel_set.hpp"

namespace bayesbox {

// Columns of unsigned integers of 1, 2, 4 and 8 bytes each have a loop of their own: [place_of(size)].
inline constexpr std::size_t place_of(std::size_t bytes) { return static_cast<std::size_t>(__builtin_ctzll(bytes)); }

// What a column's values are measured by: value - base, modulo 2^bits, is inside up to `reach`.
struct Window {
  std::uint64_t base, reach;
};

// How the rows of up to four tables are added: always (first + second) + (third + fourth), so that it makes no
// difference which of the sums have been taken beforehand, in a table of two or of four.
enum class Shape : std::uint8_t { one, two, left_pair, right_pair, four };

struct TableSumOfFour {
  Shape shape;
  const double* table[4];          // rows as wide as the classes, rounded up to a multiple of four
  const std::uint32_t* levels[4];  // the row of each table for each row of the block
};

struct WholeNumbers {
  bool all;      // whether each is whole, smaller than 2^51, or NaN
  bool has_nan;  // which becomes 0
};

template <class Key>
using MakeKeys = bool (*)(const void* values, std::size_t count, Window window, const Key* offset, const Key* keep,
                          Key nowhere, Key* keys);
using FindLevels = void (*)(const void* values, std::size_t count, Window window, std::uint32_t skipped,
                            std::uint32_t outside, std::uint32_t* levels);

struct TableKernels {
  // out[k][i] = byte k of row i, for eight columns side by side
  void (*gather_eight_bytes)(const char* base, std::int64_t stride, std::size_t count, std::uint8_t* const* out);
  // out[k][i] = element k of row i, for four columns of integers, or of doubles, side by side. Whether all are whole
  // numbers from 0 to 255; otherwise what was written is of no use.
  bool (*gather_four_narrow)(const char* base, std::int64_t stride, std::size_t count, bool doubles,
                             std::uint8_t* const* out);
  // keys[i] = offset[i] + (values[i] - base); `nowhere` for values outside and for rows whose `keep` is not all ones.
  // Whether a row that is kept lies outside.
  MakeKeys<std::uint8_t> byte_keys[4];
  MakeKeys<std::uint16_t> word_keys[4];
  // counts[key] += 1 for keys below `cells`, which is small
  void (*count_bytes)(const std::uint8_t* keys, std::size_t count, unsigned cells, std::uint32_t* counts);
  // the number of cells up to which this is faster than a histogram
  std::size_t most_byte_cells;
  // levels[i] = values[i] - base + skipped; `outside` for values outside
  FindLevels levels_of[4];
  // levels[i] = values[i] - base for whole numbers in [base, base + end); `outside` for others, outside + 1 for NaN
  void (*levels_of_doubles)(const double* values, std::size_t count, double base, double end, std::uint32_t outside,
                            std::uint32_t* levels);
  // out[i] = first[i] + rows * second[i]
  void (*combine_levels)(const std::uint32_t* first, const std::uint32_t* second, std::uint32_t rows, std::size_t count,
                         std::uint32_t* out);
  // sums[c * row_stride + i] += the sum of the rows of all tables; rows are done by four
  void (*add_tables)(const TableSumOfFour* fours, std::size_t size, std::size_t count, std::size_t class_count,
                     double* sums, std::size_t row_stride);
  // The least and the largest of at least one value
  void (*range)(const std::int64_t* values, std::size_t count, std::int64_t& least, std::int64_t& most);
  WholeNumbers (*whole_numbers)(const double* values, std::size_t count, std::int64_t* out);
};

template <>
const TableKernels& baseline_set<TableKernels>();
template <>
const TableKernels& avx2_set<TableKernels>();

inline const TableKernels& table_kernels() { return kernel_set<TableKernels>(); }

}  // namespace bayesbox
