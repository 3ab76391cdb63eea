// The logarithm of the gamma function, safe between threads.
#pragma once

#include <math.h>  // lgamma_r, which the C++ header may not declare

namespace bayesbox {

inline double log_gamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);  // std::lgamma writes the sign to a global
}

}  // namespace bayesbox
