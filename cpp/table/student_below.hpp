// The distribution function of Student's t.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "core/log_gamma.hpp"

namespace bayesbox {

// The continued fraction of the incomplete beta function, by Lentz's method; it converges fast for x < (a + 1) / (a + b + 2).
inline double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kEnough = 1e-16;
  const auto nonzero = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    const double factor = d * c;
    result *= factor;
    if (std::fabs(factor - 1) < kEnough) break;
  }
  return result;
}

// P(T < z) for z <= 0, right to about 1e-13. With many degrees of freedom it is that of a normal at the place
// that Hill gives (Algorithm 395, Communications of the ACM 13, 1970).
inline double student_below(double z, double df) {
  constexpr double kMany = 200;
  if (z >= 0) return 0.5;
  if (z * z == std::numeric_limits<double>::infinity() && df > 2) return 0;
  if (df > kMany) {
    const double a = df - 0.5, b = 48 * a * a;
    const double y = a * std::log1p(z * z / df);
    const double inner = (((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b) + y + 3;
    return 0.5 * std::erfc((inner / b + 1) * std::sqrt(y) * std::numbers::sqrt2 / 2);
  }
  const double a = df / 2, b = 0.5, x = df / (df + z * z), rest = z * z / (df + z * z);
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log(rest));
  if (x < (a + 1) / (a + b + 2)) return 0.5 * front * beta_fraction(a, b, x) / a;
  return 0.5 * (1 - front * beta_fraction(b, a, rest) / b);
}

}  // namespace bayesbox
