#include "table/normal_cell.hpp"

#include "test.hpp"

namespace bayesbox::test {
namespace {

// The same by Simpson's rule over the cell, in long doubles and in units of the density at its inner edge.
double by_quadrature(double cell, double mean, double deviation) {
  const int steps = 20000;
  const long double distance = std::fabs(static_cast<long double>(cell) - mean);
  const auto half_square = [&](long double x) { return x * x / deviation / deviation / 2; };
  const long double nearest = half_square(distance > 0.5L ? distance - 0.5L : 0);
  long double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const long double x = distance - 0.5L + static_cast<long double>(i) / steps;
    sum += (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2) * std::exp(nearest - half_square(x));
  }
  const long double root = std::sqrt(2 * std::numbers::pi_v<long double>);
  return static_cast<double>(std::log(sum / (3.0L * steps) / root / deviation) - nearest);
}

TEST(normal_cells_have_the_probability_under_the_curve) {
  for (const double deviation : {1.0 / 6, 0.5, 1.0, 7.0, 1e3, 1e6}) {
    for (const double distance : {0.0, 0.3, 0.5, 0.7, 1.0, 2.5, 9.0, 40.0, 500.0}) {
      const double mean = 3.25, cell = mean + distance;
      const double found = log_normal_cell(cell, mean, 0, deviation), expected = by_quadrature(cell, mean, deviation);
      if (distance / deviation / deviation < 600)  // where the rule of Simpson follows the fall of the curve
        CHECK(std::fabs(found - expected) <= 1e-12 * std::fabs(expected));
      CHECK(found == log_normal_cell(mean - distance, mean, 0, deviation));
      CHECK(found == log_normal_cell(cell, mean - 1, 1, deviation));  // the mean in two parts
    }
  }
}

TEST(normal_cells_far_away) {
  CHECK(std::isfinite(log_normal_cell(1e150, 0, 0, 1)));
  CHECK(std::isinf(log_normal_cell(1e200, 0, 0, 1)));
  CHECK(std::isinf(log_normal_cell(std::numeric_limits<double>::infinity(), 0, 0, 1)));
  CHECK(std::isfinite(log_normal_cell(1e15, 1e15, 0.25, 1e15)));
}

}  // namespace
}  // namespace bayesbox::test
