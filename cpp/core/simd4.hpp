// Four numbers at a time. Without registers for four they are two times two, with the same bits.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace bayesbox {

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

inline const Four& four(const double* values) { return *reinterpret_cast<const Four*>(values); }
inline Four& four(double* values) { return *reinterpret_cast<Four*>(values); }

// product = values * factor; it may be the values themselves
inline void scale(double* product, const double* values, double factor, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) four(product + i) = four(values + i) * factor;
  for (; i < count; ++i) product[i] = values[i] * factor;
}

// product = values * factors, one by one
inline void multiply(double* product, const double* values, const double* factors, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) four(product + i) = four(values + i) * four(factors + i);
  for (; i < count; ++i) product[i] = values[i] * factors[i];
}

// sums += values
inline void add(double* sums, const double* values, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) four(sums + i) += four(values + i);
  for (; i < count; ++i) sums[i] += values[i];
}

// A sum in four parts, so that no addition waits for the one before.
inline double total_of(const double* values, std::int64_t count) {
  Four sums = {0, 0, 0, 0};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) sums += four(values + i);
  double first = sums[0];
  for (; i < count; ++i) first += values[i];
  return (first + sums[1]) + (sums[2] + sums[3]);
}

// Normalises the numbers, up to rounding as if each were divided; returns their sum.
inline double scale_to_one(double* values, std::int64_t count) {
  const double total = total_of(values, count);
  scale(values, values, 1 / total, count);
  return total;
}

// ratios = above / below, 0 if below is 0
inline void divide(double* ratios, const double* above, const double* below, std::int64_t count) {
  constexpr Four kNone = {0, 0, 0, 0}, kOne = {1, 1, 1, 1};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const auto live = four(below + i) > kNone;
    four(ratios + i) = (live ? four(above + i) : kNone) / (live ? four(below + i) : kOne);
  }
  for (; i < count; ++i) ratios[i] = below[i] > 0 ? above[i] / below[i] : 0.0;
}

// The smallest and the largest of the positive numbers.
inline void find_extent(const double* values, std::int64_t count, double& least, double& most) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  constexpr Four kZero = {0, 0, 0, 0}, kNothing = {kNone, kNone, kNone, kNone};
  Four lows = kNothing, highs = kZero;
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const Four value = four(values + i);
    const Four positive = value > kZero ? value : kNothing;
    lows = positive < lows ? positive : lows;
    highs = value > highs ? value : highs;
  }
  least = kNone;
  most = 0;
  const auto take = [&](double low, double high) {
    least = low < least ? low : least;
    most = high > most ? high : most;
  };
  for (int lane = 0; lane < 4; ++lane) take(lows[lane], highs[lane]);
  for (; i < count; ++i) take(values[i] > 0 ? values[i] : kNone, values[i]);
}

// Calls `run` with a function that gives the length: a constant where it is short, so that a loop needs no counter.
template <class Run>
inline void for_length(std::int64_t length, Run run) {
  switch (length) {
    case 2: return run(std::integral_constant<std::int64_t, 2>());
    case 3: return run(std::integral_constant<std::int64_t, 3>());
    case 4: return run(std::integral_constant<std::int64_t, 4>());
    case 8: return run(std::integral_constant<std::int64_t, 8>());
    case 16: return run(std::integral_constant<std::int64_t, 16>());
    default: return run([length] { return length; });
  }
}

}  // namespace bayesbox
