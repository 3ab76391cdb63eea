// The logarithm of the gamma function, safe between threads.
#pragma once

#include <cmath>
#include <math.h>  // lgamma_r, which the C++ header may not declare

namespace bayesbox {

inline double log_gamma(double x) {
#if defined(_WIN32)
  return std::lgamma(x);  // Windows has no other, and nobody reads the global that it may write to
#else
  int sign;
  return ::lgamma_r(x, &sign);  // std::lgamma writes the sign to a global
#endif
}

}  // namespace bayesbox
