// exp, log, erfc, the log of the gamma function and their relatives, from IEEE operations only: the same bits on every
// processor and with every C library, whose own differ. The polynomials are minimax.
//
// Errors, in units of the last place: log, log1p and exp 1, erf 3, erfc 4, and the log of the gamma function 6, or 4e-16
// where that is less (tests/core/test_functions.py).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/erfc_terms.hpp"

namespace bayesbox::portable {

namespace detail {

inline constexpr double kLog2Head = 0.6931471803691238, kLog2Tail = 1.9082149292705877e-10;  // ln 2, the first with few digits
inline constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

inline double power_of_two(std::int64_t n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52); }

// In four sums, which do not wait for one another.
template <std::size_t Size>
double polynomial(const double (&c)[Size], double x) {
  constexpr std::size_t kLast = (Size - 1) / 4 * 4;
  const double x2 = x * x, x4 = x2 * x2;
  double sum[4];
  for (std::size_t way = 0; way < 4; ++way) {
    sum[way] = kLast + way < Size ? c[kLast + way] : 0.0;
    for (std::size_t k = kLast; k > 0; k -= 4) sum[way] = c[k - 4 + way] + x4 * sum[way];
  }
  return (sum[0] + x * sum[1]) + x2 * (sum[2] + x * sum[3]);
}

// log u + rest for a normal u > 0, as the kernels work it out (core/posterior_lanes.hpp).
inline double log_of(double u, double rest) {
  constexpr double c[] = {0.6666666666666734,  0.39999999999414676, 0.28571428742388505, 0.22222198573082885,
                          0.1818356433186436,  0.15314050394799053, 0.14795951368566837};
  const auto biased = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(u * 1.4142135623730951) >> 52) - 1023;
  const auto n = static_cast<double>(biased);
  const double f = u * power_of_two(-biased) - 1, s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
  const double series = (c[0] + s2 * c[1]) + s4 * ((c[2] + s2 * c[3]) + s4 * ((c[4] + s2 * c[5]) + s4 * c[6]));
  const double half_square = f * f * 0.5;
  const double small = s * (half_square + s2 * series) + (n * kLog2Tail + rest);
  return n * kLog2Head - ((half_square - small) - f);
}

}  // namespace detail

// -inf of zero, NaN of negative numbers.
inline double log(double x) {
  if (x >= 0x1p-1000 && x <= 0x1p1000) [[likely]] return detail::log_of(x, 0);
  if (x == 0) return -detail::kInfinite;
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == detail::kInfinite) return x;
  constexpr double kLogOfFactor = 37.429947750237047;  // of 2^54
  return x < 1 ? detail::log_of(x * 0x1p54, 0) - kLogOfFactor : detail::log_of(x * 0x1p-54, 0) + kLogOfFactor;
}

inline double log2(double x) {
  if (!(x >= 0x1p-1000 && x <= 0x1p1000)) return log(x) * 1.4426950408889634;
  const auto n = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x * 1.4142135623730951) >> 52) - 1023;
  return static_cast<double>(n) + detail::log_of(x * detail::power_of_two(-n), 0) * 1.4426950408889634;
}

// log(1 + x) = log u + (1 + x - u) / u for u = 1 + x as it is rounded
inline double log1p(double x) {
  const double u = 1 + x;
  if (!(u >= 0x1p-1000 && u <= 0x1p1000)) return log(u);
  if (u == 1) return x;
  return detail::log_of(u, (x - (u - 1)) / u);
}

// x = n ln 2 + r with |r| <= ln 2 / 2; for subnormal results 2^n in two factors, so that they round once.
inline double exp(double x) {
  if (!(x >= -746)) return x < 0 ? 0 : x;
  if (x > 709.782712893384) return detail::kInfinite;
  constexpr double c[] = {0.5000000000000011,     0.16666666666666413,    0.041666666666530267,  0.008333333333494335,
                          0.0013888888943597829,  0.00019841269506775094, 2.480149313603979e-05, 2.7557586270941857e-06,
                          2.7630233974266633e-07, 2.5000070730291996e-08};
  const double n = (x * 1.4426950408889634 + detail::kRound) - detail::kRound;
  const double r = (x - n * detail::kLog2Head) - n * detail::kLog2Tail;
  const auto pair = [&](int k) { return c[k] + r * c[k + 1]; };
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double low = pair(0) + r2 * pair(2), middle = pair(4) + r2 * pair(6);
  const double value = 1 + (r + r2 * (low + (r4 * middle + r8 * pair(8))));
  const auto whole = static_cast<std::int64_t>(n), half = whole / 2;
  if (whole >= -1021 && whole <= 1023) [[likely]] return value * detail::power_of_two(whole);
  return value * detail::power_of_two(half) * detail::power_of_two(whole - half);
}

inline double exp2(double x) {
  if (!(x >= -1100)) return x < 0 ? 0 : x;
  if (x >= 1024) return detail::kInfinite;
  const double n = (x + detail::kRound) - detail::kRound;
  const auto whole = static_cast<std::int64_t>(n), half = whole / 2;
  return exp((x - n) * 0.6931471805599453) * detail::power_of_two(half) * detail::power_of_two(whole - half);
}

inline double cosh(double x) {
  const double size = std::fabs(x), grown = exp(size);
  return size > 700 ? exp(size - 0.6931471805599453) : 0.5 * grown + 0.5 / grown;
}

// exp(x * x) erfc(x) for x >= 0.5: a polynomial of (x - 2) / (x + 2), over 1 + 2 x.
inline double scaled_erfc_above_half(double x) {
  if (x > 0x1p100) return 0.5641895835477563 / x;
  return detail::polynomial(kScaledErfc, (x - 2) / (x + 2)) / (1 + 2 * x);
}

inline double erf_below_half(double x) {
  return x * detail::polynomial(kErf, x * x);
}

inline double erfc(double x) {
  if (std::isnan(x)) return x;
  if (x < 0.5) return x > -0.5 ? 1 - erf_below_half(x) : 2 - erfc(-x);
  if (x > 27.3) return 0;
  // x * x in two parts: the square of its first 26 bits exactly, and the rest
  const double high = 134217729 * x - (134217729 * x - x);
  const double rest = (x - high) * (x + high);  // below 1e-4
  return exp(-high * high) * (1 - rest * (1 - rest * (0.5 - rest * (1.0 / 6 - rest * (1.0 / 24))))) * scaled_erfc_above_half(x);
}

inline double erf(double x) {
  if (std::fabs(x) < 0.5) return erf_below_half(x);
  return x < 0 ? erfc(-x) - 1 : 1 - erfc(x);
}

// log G(x) for x > 0. Between 1.5 and 2.5 it is (x - 1) (x - 2) times a polynomial; from 8 on it is Stirling's series; others
// are led to the first by G(x + 1) = x G(x). The zeros at 1 and 2 are exact.
inline double lgamma(double x) {
  if (!(x > 0)) return x == 0 ? detail::kInfinite : std::numeric_limits<double>::quiet_NaN();
  if (x >= 8) {
    if (x > 0x1p60) return x < 2.5e305 ? x * (log(x) - 1) : detail::kInfinite;
    constexpr double c[] = {0.08333333333333333,   -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
                            0.0008417508417508417, -0.0019175269175269176, 0.006410256410256411, -0.029550653594771242,
                            0.17964437236883057};
    const double inverse = 1 / x;
    return (x - 0.5) * log(x) - x + 0.9189385332046728 + inverse * detail::polynomial(c, inverse * inverse);
  }
  constexpr double c[] = {0.42278433509846713,   -0.10031730167435393,   0.032965000621155836,  -0.012384192193367468,
                          0.004998641164695469,  -0.002108130834223415,  0.0009153769223805991, -0.00040570738897825623,
                          0.00018255263497305108, -8.309527325533694e-05, 3.81689598761822e-05,  -1.7660194017271152e-05,
                          8.22147891805373e-06,  -3.856313609317478e-06, 1.8124087986360302e-06, -8.208987442720822e-07,
                          3.883748097729481e-07, -2.525485342958651e-07, 1.203490776709693e-07};
  double above = 1, below = 1, y = x - 2;  // y + 2 is led to the polynomial
  while (y >= 0.5) above *= (y -= 1) + 2;
  if (x < 0.5) {
    if (x < 0x1p-60) return -log(x);
    below = x * (x + 1);
    y = x;
  } else if (x < 1.5) {
    below = x;
    y = x - 1;
  }
  const double inside = (y + 1) * y * detail::polynomial(c, y);
  if (above != 1) return inside + log(above);
  return below == 1 ? inside : inside - log(below);
}

// log G(x + 1/2) - log G(x) for x > 0, which has its digits where both are large.
inline double log_gamma_step(double x) {
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  double above = 1, below = 1;
  for (; x < 10; x += 1) {
    above *= x;
    below *= x + 0.5;
  }
  constexpr double c[] = {-0.125, 0.005208333333333333, -0.0015625, 0.0011858258928571429, -0.0016818576388888888,
                          0.0038341175426136365};
  const double inverse = 1 / x;
  const double series = inverse * detail::polynomial(c, inverse * inverse);
  return above == below ? 0.5 * log(x) + series : (0.5 * log(x) + log(above / below)) + series;
}

}  // namespace bayesbox::portable
