#include "table/kernel_density.hpp"

#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(kernel_density_is_the_sum_of_all_curves) {
  std::mt19937_64 random(41);
  std::vector<double> values(500), weights(500);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i) * 0.01 + (i > 250 ? 30 : 0);
    weights[i] = 1 + static_cast<double>(random() % 5);
  }
  for (const double width : {0.003, 0.1, 2.0, 50.0}) {
    const KernelDensity density(values.data(), weights.data(), values.size(), width);
    for (const double x : {-1.0, 0.0, 0.005, 1.234, 2.7, 31.0, 40.0}) {
      long double sum = 0, total = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const long double z = (static_cast<long double>(x) - values[i]) / width;
        sum += weights[i] * std::exp(-z * z / 2);
        total += weights[i];
      }
      const long double expected = std::log(sum / total / width / std::sqrt(2 * std::numbers::pi_v<long double>));
      if (std::isfinite(static_cast<double>(expected)))
        CHECK(std::abs(density.log_density(x) - static_cast<double>(expected)) <= 1e-11 * (1 + std::abs(static_cast<double>(expected))));
    }
    CHECK(std::isfinite(density.log_density(-1e6)) && density.log_density(-1e6) < -100);  // far tails do not vanish
  }
  CHECK(KernelDensity(values.data(), weights.data(), 1, 1).log_density(1e300) == -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace bayesbox::test
