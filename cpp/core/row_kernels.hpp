// The inner loops over rows of a row-major matrix whose lanes are columns, compiled like those of kernels.hpp and under the
// same precautions: nothing is transposed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernel_set.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

// What the columns side by side in a vector are split by (see split in vector_kernels.hpp): each has an exponent of its own.
struct RowScale {
  double round1[kPad], round2[kPad], round3[kPad];
  double large[kPad];  // a value that is not below this is held whole
};

// Sums of the pieces of one class, where lane k is that of column k, and how many of its values are no integers or missing.
struct alignas(64) RowSums {
  PieceLanes pieces;
  double fractional[kPad]{}, missing[kPad]{};
};

// The columns of a row whose values are too small for their last bits to be held: bit k is that of column k.
struct RowAside {
  std::uint32_t row, columns;
};

struct RowKernels {
  // Copies `vectors` times kPad columns of rows [0, rows): those of vector v and row i to out[(v * step + place[i]) * kPad ...],
  // which is aligned. largest[k] = the largest |x| of column k, NaN left out. Whether there is any NaN.
  bool (*copy)(const char* base, std::int64_t stride, std::size_t rows, std::size_t vectors, const std::uint32_t* place, double* out,
               std::size_t step, double* largest);
  // Adds `count` rows of kPad values to the sums; without `missing` there is no NaN among them. Returns the number of rows
  // written to `aside`. Memory that is wanted next is fetched meanwhile: one line for each row, `step` bytes apart.
  std::size_t (*split)(const double* rows, std::size_t count, const RowScale& scale, bool missing, RowSums& sums, RowAside* aside,
                       Ahead ahead);
  // The codes of the grid cells of `count` rows of kPad values (see table/window_grids.hpp), those of column k to codes + k * step,
  // where kPad are written at a time; and the least and the greatest of each column.
  void (*encode)(const double* rows, std::size_t count, std::uint16_t* codes, std::size_t step, std::uint16_t* least, std::uint16_t* most);
};

// The most values of a class that one lane of sums can hold.
inline constexpr std::size_t kMostRowsSplit = 1024;

template <>
const RowKernels& baseline_set<RowKernels>();
template <>
const RowKernels& avx2_set<RowKernels>();
template <>
const RowKernels& avx512_set<RowKernels>();
template <>
inline constexpr bool kHasAvx512Set<RowKernels> = true;

inline const RowKernels& row_kernels() { return kernel_set<RowKernels>(); }

}  // namespace bayesbox
