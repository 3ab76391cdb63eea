// The inner loops that are compiled for the baseline, for AVX2 with FMA and for AVX-512; `kernels()` is the set in force.
// They see plain pointers only, and all sets give the same bits: each sum is either exact, or done lane by lane in
// the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernel_set.hpp"

namespace bayesbox {

// Runs of doubles are padded with zeros to a multiple of this; blocks of rows are multiples of it.
inline constexpr std::size_t kPad = 8;

inline constexpr std::size_t padded(std::size_t count) { return (count + kPad - 1) / kPad * kPad; }

struct RunScan {
  double largest;  // of |x|, NaN left out
  bool has_nan;
};

// Sums of the pieces of runs, lane by lane (see split in vector_kernels.hpp); every one is exact.
struct PieceLanes {
  static constexpr std::size_t most = 8;  // lanes of any version
  double first[most]{}, rest[most]{};     // rest: the second and the third together
  double first_first[most]{}, first_second[most]{}, first_third[most]{};
  double second_second[most]{}, second_third[most]{}, third_third[most]{};
};

// The same in units, over all lanes.
struct PieceSums {
  std::int64_t first, rest, first_first, first_second, first_third, second_second, second_third, third_third;
};

// Memory that is wanted next: `step` bytes of it are fetched into the cache for each value that is worked on.
struct Ahead {
  const char* at;
  std::size_t step;

  Ahead from(std::size_t value) const { return {at + value * step, step}; }
};

struct SplitCounts {
  std::size_t fractional;  // values that are no integers
  std::size_t left;        // values too small for their last bit to be held, written to `left_over`
};

// One class of a Gaussian term.
struct GaussianClass {
  double mean, rest, deviation;
  double inverse;  // of the deviation
  double constant;
  bool by_inverse;  // the inverse is finite and normal
  bool by_rest;     // the rest of the mean is not lost beside the deviation
};

// One class of a column whose row is left out (see leave_one_out.hpp), in units of `scale`.
struct LeftOut {
  double mean, rest, scale;
  double ratio;     // n / (n - 1)
  double squares;   // the sum of squares about the mean
  double share;     // 1 / (n - 1)
  double constant;  // of the term but for the logarithm of the variance
  double radius;    // a value nearer to the mean than this leaves enough digits, and a variance that no floor lifts
};

struct Kernels {
  // out[j][i] = the 8 bytes at base + order[i] * stride + 8 * j for four columns side by side (order null: row i)
  void (*gather_four)(const char* base, std::int64_t stride, const std::uint32_t* order, std::size_t count,
                      void* const* out);
  // out[0 ...] = the rows with this label, ascending; how many they are. Up to kPad elements behind them are overwritten.
  std::size_t (*rows_of)(const std::int32_t* labels, std::size_t count, std::int32_t label, std::uint32_t* out);
  // `count` is a multiple of kPad
  RunScan (*scan)(const double* values, std::size_t count);
  // Adds the pieces of the values to the sums. All |x| < 2^exponent, the same for all that the sums hold, which are at
  // most `most_split`; `count` is a multiple of kPad.
  SplitCounts (*split)(const double* values, std::size_t count, int exponent, double* left_over, PieceLanes& sums,
                       Ahead ahead);
  PieceSums (*in_units)(const PieceLanes& sums, int exponent);
  std::size_t most_split;
  // Whether a value of some columns is NaN; infinite values of both signs in one row may count as NaN.
  bool (*any_nan)(const double* const* values, std::size_t columns, std::size_t count);
  // sums[c * row_stride + i] += the sum of constant - z * z / 2 over up to four columns; the classes of one column follow
  // those of the one before. A NaN adds nothing; without `holes` it may instead make NaN of its row's sums.
  // There is an `ahead` for each column; `count` is a multiple of kPad.
  void (*add_gaussians)(const double* const* values, std::size_t columns, std::size_t count, bool holes,
                        const GaussianClass* classes, std::size_t class_count, double* sums, std::size_t row_stride,
                        const Ahead* ahead);
  // sums[i] += the terms of up to four columns for rows of the class that `left` is of, each without the row's own value,
  // but for the logarithms of the variances, which are multiplied into variances[i]. unsure[i] = 1 where that is not right.
  void (*leave_one_out)(const double* const* values, std::size_t columns, std::size_t count, bool holes,
                        const LeftOut* const* left, double* sums, double* variances, std::uint8_t* unsure);
  // top[i] = the largest of sums[c * row_stride + i], and best[i] the first class that has it; -inf and -1 where no sum is
  // above -inf. `count` is a multiple of kPad.
  void (*best)(const double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* top,
               double* best);
  // values[i] = log(values[i]) for positive numbers that are not subnormal
  void (*logarithms)(double* values, std::size_t count);
  // values[i] = log(1 + values[i]) for values >= 0
  void (*logarithms_beside_one)(double* values, std::size_t count);
  // values[i] = exp(values[i] - top[i]) for differences of at most 700
  void (*exponentials)(double* values, const double* top, std::size_t count);
  // out[i * class_count + c] = the share of exp(sums[c * row_stride + i]) in the sum over the classes; the sums are
  // overwritten. Whether some row has no such share, as no class or an infinite one is possible; it gets NaN.
  bool (*posteriors)(double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* out);
  // The same in logarithms.
  bool (*log_posteriors)(double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* out);
  // out[i] = the logarithm of that sum over the classes
  void (*log_sums)(const double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* out);
};

template <>
const Kernels& baseline_set<Kernels>();
template <>
const Kernels& avx2_set<Kernels>();
template <>
const Kernels& avx512_set<Kernels>();
template <>
inline constexpr bool kHasAvx512Set<Kernels> = true;

inline const Kernels& kernels() { return kernel_set<Kernels>(); }

}  // namespace bayesbox
