// One class of a Gaussian term made ready for the kernels.
#pragma once

#include <cmath>

#include "kernels.hpp"

namespace bayesbox {

// The mean is `mean + rest`; `constant` is the logarithm of the density there.
inline GaussianClass gaussian_class(double mean, double rest, double deviation, double constant) {
  constexpr double kSeen = 0x1p-56;  // a part of a deviation smaller than this is lost in z
  const double inverse = 1.0 / deviation;
  return {mean, rest, deviation, inverse, constant, std::isnormal(inverse), std::abs(rest) * inverse > kSeen};
}

}  // namespace bayesbox
