// Logarithms and exponentials of any doubles by the kernels, so that they have the same bits on every processor; those of the
// C library and of numpy depend on which instructions there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/functions.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

// values[i] = log(values[i]); -inf of zero, NaN of negative numbers.
inline void natural_logarithms(std::vector<double>& values) {
  const std::size_t count = values.size();
  std::vector<double> wanted(padded(count), 1.0);
  constexpr double kFactor = 0x1p54, kLogOfFactor = 37.429947750237047;
  const auto is_plain = [](double x) { return x > 0 && x <= std::numeric_limits<double>::max(); };
  const auto lifted = [](double x) { return !std::isnormal(x) ? 1 : x > 0x1p1000 ? -1 : 0; };  // near an end of the doubles
  for (std::size_t i = 0; i < count; ++i) {
    const double x = values[i];
    if (is_plain(x)) wanted[i] = lifted(x) == 1 ? x * kFactor : lifted(x) == -1 ? x / kFactor : x;
  }
  kernels().logarithms(wanted.data(), wanted.size());
  for (std::size_t i = 0; i < count; ++i) {
    const double x = values[i];
    if (is_plain(x)) {
      values[i] = wanted[i] - lifted(x) * kLogOfFactor;
    } else if (x == 0) {
      values[i] = -INFINITY;
    } else if (!(x > 0)) {
      values[i] = std::nan("");
    }
  }
}

// values[i] = exp(values[i]) for values <= 0, NaN of others.
inline void exponentials_up_to_one(std::vector<double>& values) {
  const std::size_t count = values.size();
  std::vector<double> wanted(padded(count)), top(padded(count));
  for (std::size_t i = 0; i < count; ++i) wanted[i] = values[i] <= 0 ? values[i] : 0.0;
  kernels().exponentials(wanted.data(), top.data(), wanted.size());
  for (std::size_t i = 0; i < count; ++i) values[i] = values[i] <= 0 ? wanted[i] : std::nan("");
}

// values[i] = exp(values[i]) of any numbers.
inline void natural_exponentials(double* values, std::size_t count) {
  constexpr double kMost = 700;  // that the kernels know
  constexpr std::size_t kAtOnce = 256;
  constexpr double kNothing[kAtOnce] = {};
  double some[kAtOnce];
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    const std::size_t here = std::min(kAtOnce, count - begin);
    double* given = values + begin;
    for (std::size_t i = 0; i < here; ++i) some[i] = given[i] <= kMost ? given[i] : 0.0;
    std::fill(some + here, some + padded(here), 0.0);
    kernels().exponentials(some, kNothing, padded(here));
    for (std::size_t i = 0; i < here; ++i) given[i] = given[i] <= kMost ? some[i] : portable::exp(given[i]);
  }
}

inline void natural_exponentials(std::vector<double>& values) { natural_exponentials(values.data(), values.size()); }

}  // namespace bayesbox
