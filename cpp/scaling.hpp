// Products of many small numbers without underflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bayesbox {

// The least and the greatest of positive numbers, so that products can be watched for underflow and overflow.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;

  static Extent of(const double* values, std::int64_t count) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double least[2] = {kNone, kNone}, most[2] = {0, 0};  // two of each, so that no comparison waits for the last one
    std::int64_t i = 0;
    for (; i + 2 <= count; i += 2)
      for (std::int64_t k = 0; k < 2; ++k) {
        const double value = values[i + k], positive = value > 0 ? value : kNone;
        least[k] = positive < least[k] ? positive : least[k];
        most[k] = value > most[k] ? value : most[k];
      }
    if (i < count) {
      if (values[i] > 0) least[0] = std::min(least[0], values[i]);
      most[0] = std::max(most[0], values[i]);
    }
    return {std::min(least[0], least[1]), std::max(most[0], most[1])};
  }
  Extent times(const Extent& other) const { return {least * other.least, most * other.most}; }
  bool risky() const { return least < 1e-250 || most > 1e250; }
};

// The logarithm of a product, taken now and then.
class LogProduct {
 public:
  void multiply(double factor) {
    if (factor < 1e-100 || factor > 1e100) {
      log_ += std::log(factor);
      return;
    }
    product_ *= factor;
    if (product_ < 1e-150 || product_ > 1e150) {
      log_ += std::log(product_);
      product_ = 1;
    }
  }
  double log() const { return log_ + std::log(product_); }

 private:
  double product_ = 1;
  double log_ = 0;
};

}  // namespace bayesbox
