// Products of many small numbers without underflow.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/functions.hpp"
#include "core/simd4.hpp"

namespace bayesbox {

// The least and the greatest of positive numbers, so that products can be watched for underflow and overflow.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;

  static Extent of(const double* values, std::int64_t count) {
    Extent found;
    find_extent(values, count, found.least, found.most);
    return found;
  }
  Extent times(const Extent& other) const { return {least * other.least, most * other.most}; }
  bool risky() const { return least < 1e-250 || most > 1e250; }
};

// The logarithm of a product, taken now and then.
class LogProduct {
 public:
  void multiply(double factor) {
    if (factor < 1e-100 || factor > 1e100) {
      log_ += portable::log(factor);
      return;
    }
    product_ *= factor;
    if (product_ < 1e-150 || product_ > 1e150) {
      log_ += portable::log(product_);
      product_ = 1;
    }
  }
  double log() const { return log_ + portable::log(product_); }

 private:
  double product_ = 1;
  double log_ = 0;
};

}  // namespace bayesbox
