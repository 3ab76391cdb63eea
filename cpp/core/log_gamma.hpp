// The logarithm of the gamma function.
#pragma once

#include "core/functions.hpp"

namespace bayesbox {

inline double log_gamma(double x) { return portable::lgamma(x); }

}  // namespace bayesbox
