// The inner loops of several columns together, compiled twice like those of kernels.hpp and chosen in the same way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernel_set.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

// Sums of the three pieces of a run in their units, and whether some value has more bits than the pieces hold.
struct ThreePieces {
  double first, second, third;
  bool has_rest;
};

// The sums of products of pieces, by their weight: 2^-42, 2^-63, 2^-84, 2^-105, 2^-126 times both columns' 2^exponent.
inline constexpr std::size_t kProductSums = 5;

struct JointKernels {
  // Splits values, all |x| < 2^exponent: x = (p1 2^42 + p2 2^21 + p3) 2^(exponent - 63) + rest, with integers
  // |p1| <= 2^21, |p2| and |p3| <= 2^20 at pieces[i], pieces[stride + i], pieces[2 stride + i]. `count` is a multiple
  // of kPad, at most 512.
  ThreePieces (*split_three)(const double* values, std::size_t count, int exponent, double* pieces, std::size_t stride,
                             double* rest);
  // sums[k]: for one column and `columns` (1 or 2) others, whose pieces lie one after another, kProductSums each.
  void (*cross)(const double* one, const double* others, std::size_t columns, std::size_t stride, std::size_t count,
                double* sums);
  // sums[i] = constant - |factor (x_i - mean - rest)|^2 / 2 for a lower triangular factor, `width` x `width` in rows
  // padded to a multiple of 4 rows of zeros; `values[j]` is column j. `scratch` holds width x count numbers.
  void (*quadratic)(const double* const* values, std::size_t count, std::size_t width, const double* mean,
                    const double* rest, const double* factor, double constant, double* scratch, double* sums);
};

template <>
const JointKernels& baseline_set<JointKernels>();
template <>
const JointKernels& avx2_set<JointKernels>();

inline const JointKernels& joint_kernels() { return kernel_set<JointKernels>(); }

}  // namespace bayesbox
