// The distribution function of Student's t.
//
// With many degrees of freedom it is that of a normal at the place that Hill gives (Algorithm 395, Communications of the ACM 13,
// 1970). With fewer, two more at a time take away a term that is known: with x = df / (df + z^2) and a = df / 2,
//
//     2 P(T < z | df) = I_x(a, 1/2) = I_x(a + 1, 1/2) + x^a sqrt(1 - x) G(a + 1/2) / (G(1/2) G(a + 1))
//
// (Abramowitz and Stegun, 26.5.16), and no x changes: all terms are positive, so that a small tail has its digits.
#pragma once

#include <cstddef>
#include <limits>
#include <numbers>

#include "core/cell_tree_kernels.hpp"
#include "core/functions.hpp"

namespace bayesbox {

// NaN of degrees that are not positive.
inline StudentTail student_tail(double df) {
  StudentTail made;
  made.df = made.many = df > 0 ? df : std::numeric_limits<double>::quiet_NaN();
  if (df == 3 || !(df > 0 && df <= kManyDegrees)) return made;
  const double a = df / 2;
  made.terms = static_cast<std::size_t>((kManyDegrees - df) / 2) + 1;
  made.many = df + 2 * static_cast<double>(made.terms);
  made.front = 0.5 * portable::exp(portable::log_gamma_step(a)) / (a * 1.7724538509055161);  // the root of pi
  double term = 1;
  for (std::size_t k = 0; k + 1 < made.terms; ++k) {
    const double at = a + static_cast<double>(k);
    made.term[k] = term *= (at + 0.5) / (at + 1);
  }
  return made;
}

}  // namespace bayesbox
