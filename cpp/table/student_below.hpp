// The distribution function of Student's t.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "core/cell_kernels.hpp"
#include "core/functions.hpp"
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

// P(T < z) for z < 0 with three degrees of freedom: (artan u - u / (1 + u^2)) / pi with u = sqrt(3) / -z, which is u^3 times a
// polynomial of u^2 where u is small; else 1/2 less the same of 1 / u.
inline double student_below_of_three(double z) {
  constexpr double kSmall[] = {0.21220659078919377, -0.25464790894703127, 0.2728370453000928,  -0.2829421210241518,
                               0.2893726224125289,  -0.2938244685518706,  0.2970884001227447,  -0.29957440153714193,
                               0.30144428095719705, -0.30233505809656125, 0.30004639607054057, -0.28761919694594795,
                               0.2517726396025248,  -0.18211188811985415, 0.09260547390061268, -0.02388390922997623};
  constexpr double kTangent[] = {1.0,
                                 -0.33333333333333304,
                                 0.19999999999991688,
                                 -0.14285714284747086,
                                 0.11111111052500991,
                                 -0.09090906971056774,
                                 0.07692258289852914,
                                 -0.06665891072737526,
                                 0.05873951954839359,
                                 -0.051998759256866534,
                                 0.044326827956913464,
                                 -0.03191844702294359,
                                 0.013701307931815503};
  const double w = -z / std::numbers::sqrt3;
  if (w > 1.7) {
    const double u = 1 / w;
    return u * (u * u) * portable::detail::polynomial(kSmall, u * u);
  }
  const bool far = w > 0.4;
  const double t = far ? (w - 1) / (w + 1) : w;
  const double angle = t * portable::detail::polynomial(kTangent, t * t) + (far ? std::numbers::pi / 4 : 0.0);
  return 0.5 - (angle + w / (1 + w * w)) / std::numbers::pi;
}

// P(T < z) for z <= 0, right to about 1e-13. With many degrees of freedom it is that of a normal at the place that Hill gives
// (Algorithm 395, Communications of the ACM 13, 1970), as the kernels work it out.
inline double student_below(double z, double df) {
  if (z >= 0) return 0.5;
  if (z * z == std::numeric_limits<double>::infinity() && df > 2) return 0;
  if (df == 3) return student_below_of_three(z);
  if (df > kManyDegrees) {
    if (z * z > kFarTail * df) return 0;
    const double a = df - 0.5, b = 48 * a * a;
    const double y = a * portable::log1p(z * z / df);
    const double inner = (((0 - 0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b) + y + 3;
    return 0.5 * portable::erfc((inner * (1 / b) + 1) * std::sqrt(y) * 0.70710678118654757);
  }
  const double a = df / 2, b = 0.5, x = df / (df + z * z), rest = z * z / (df + z * z);
  const double front = portable::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * portable::log(x) + b * portable::log(rest));
  if (x < (a + 1) / (a + b + 2)) return 0.5 * front * beta_fraction(a, b, x) / a;
  return 0.5 * (1 - front * beta_fraction(b, a, rest) / b);
}

}  // namespace bayesbox
