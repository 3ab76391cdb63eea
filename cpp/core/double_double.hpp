// Sums in two doubles, about 32 digits: for numbers that follow from exact sums and change row by row.
#pragma once

#include <cmath>

namespace bayesbox {

struct DoubleDouble {
  double high = 0, low = 0;

  // The sum of two doubles, exactly.
  static DoubleDouble sum(double a, double b) {
    const double s = a + b, part = s - a;
    return {s, (a - (s - part)) + (b - part)};
  }
  // The product of two doubles, exactly.
  static DoubleDouble product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
  }

  DoubleDouble operator-() const { return {-high, -low}; }
  DoubleDouble operator+(const DoubleDouble& other) const {
    const DoubleDouble first = sum(high, other.high), second = sum(low, other.low);
    const DoubleDouble third = sum(first.high, first.low + second.high);
    return sum(third.high, third.low + second.low);
  }
  DoubleDouble operator-(const DoubleDouble& other) const { return *this + -other; }
  DoubleDouble operator*(const DoubleDouble& other) const {
    const DoubleDouble p = product(high, other.high);
    return sum(p.high, p.low + (high * other.low + low * other.high));
  }
  DoubleDouble over(double n) const {
    const double first = high / n;
    const DoubleDouble rest = *this - product(first, n);
    return sum(first, rest.high / n);
  }
};

}  // namespace bayesbox
