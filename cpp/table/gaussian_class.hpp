// One class of a Gaussian term made ready for the kernels.
#pragma once

#include <cmath>

#include "core/kernels.hpp"

namespace bayesbox {

// The mean is `mean + rest`; `constant` is the logarithm of the density there.
inline GaussianClass gaussian_class(double mean, double rest, double deviation, double constant) {
  // A smaller part of a deviation is lost in z, or changes the square of a z below 1 by no more than the last place of 1.
  constexpr double kSeen = 0x1p-53;
  const double inverse = 1.0 / deviation;
  return {mean, rest, deviation, inverse, constant, std::isnormal(inverse), std::abs(rest) * inverse > kSeen};
}

}  // namespace bayesbox
