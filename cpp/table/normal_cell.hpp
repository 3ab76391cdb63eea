// The probability that a normal number, rounded to whole units, is a given one: the log of Phi(upper) - Phi(lower).
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "core/functions.hpp"

namespace bayesbox {

// exp(x * x) * erfc(x) for x >= 0, which neither over- nor underflows.
inline double scaled_erfc(double x) {
  return x < 0.5 ? portable::exp(x * x) * portable::erfc(x) : portable::scaled_erfc_above_half(x);
}

// log P(cell - 1/2 < x < cell + 1/2) for x ~ N(mean + rest, deviation), right to about 1e-14 of itself however far away
// the cell is: no difference is taken of numbers that are nearly equal. -inf where the square of the distance in
// deviations is no double.
inline double log_normal_cell(double cell, double mean, double rest, double deviation) {
  constexpr double kRootHalf = std::numbers::sqrt2 / 2;
  const double distance = std::fabs((cell - mean) - rest);
  const double inner = (distance - 0.5) / deviation, outer = (distance + 0.5) / deviation;
  if (!(outer < std::numeric_limits<double>::infinity())) return -std::numeric_limits<double>::infinity();
  if (inner < 0) {  // the mean is inside: a part on either side of it
    const double inside = 0.5 * (portable::erf(outer * kRootHalf) + portable::erf(-inner * kRootHalf));
    if (inside < 0.5) return portable::log(inside);
    return portable::log1p(-0.5 * (portable::erfc(outer * kRootHalf) + portable::erfc(-inner * kRootHalf)));
  }
  const double middle = distance / deviation;
  const double fall = middle / deviation;  // the log of how much the density falls from the inner to the outer edge
  if (fall >= 1) {  // two tails that differ
    const double tails = scaled_erfc(inner * kRootHalf) - scaled_erfc(outer * kRootHalf) * portable::exp(-fall);
    return -0.5 * inner * inner + portable::log(0.5 * tails);
  }
  // The density at the middle times the mean of cosh(fall u / 2) exp(-(u / (2 deviation))^2 / 2) over -1 < u < 1, by the
  // rule of Gauss with ten points: it is smooth, for fall < 1 with the mean outside makes 1 / (2 deviation) < 1.
  constexpr double kPlaces[] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                0.9739065285171717};
  constexpr double kWeights[] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159821, 0.1494513491505806,
                                 0.0666713443086881};
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    const double half = 0.5 * kPlaces[i] / deviation;
    sum += kWeights[i] * portable::cosh(0.5 * kPlaces[i] * fall) * portable::exp(-0.5 * half * half);
  }
  return portable::log(sum) - portable::log(deviation) - 0.5 * portable::log(2 * std::numbers::pi) - 0.5 * middle * middle;
}

}  // namespace bayesbox
