#include "table/factorize.hpp"

#include <set>

#include "test.hpp"

namespace bayesbox::test {
namespace {

template <class T>
void check(const std::vector<T>& values) {
  std::set<std::int64_t> distinct;
  for (const T value : values) distinct.insert(static_cast<std::int64_t>(value));
  std::vector<std::int32_t> codes(values.size());
  const auto found = factorize(column_of(values), codes.data());
  CHECK(found == std::vector<std::int64_t>(distinct.begin(), distinct.end()));
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(found[static_cast<std::size_t>(codes[i])] == static_cast<std::int64_t>(values[i]));
}

TEST(factorize_any_integers) {
  std::mt19937_64 random(16);
  std::vector<std::int64_t> wide(5000), few(5000), multiples(5000);
  for (auto& value : wide) value = static_cast<std::int64_t>(random());
  for (auto& value : few) value = static_cast<std::int64_t>(random() % 3) * (1LL << 61) - (1LL << 62);
  for (auto& value : multiples) value = static_cast<std::int64_t>(random() % 4000) << 40;
  wide[0] = INT64_MIN;
  wide[1] = INT64_MAX;
  check(wide);
  check(few);
  check(multiples);
  check(std::vector<std::uint8_t>{3, 255, 0, 3});
  check(std::vector<std::int16_t>{-3, 7, -3});
  check(std::vector<std::uint64_t>{1ULL << 62, 5});
  check(std::vector<std::int32_t>{});
  CHECK_THROWS(check(std::vector<std::uint64_t>{1ULL << 63}), std::overflow_error);
}

TEST(factorize_any_doubles) {
  std::mt19937_64 random(17);
  std::vector<double> values = {0.0, -0.0, 1.5, -1e300, 5e-324, -5e-324, std::nan(""), 1e300, 1.5};
  for (int i = 0; i < 5000; ++i) values.push_back(static_cast<double>(random() % 300) - 150);
  for (int i = 0; i < 5000; ++i) values.push_back(static_cast<double>(random()) * 1e-9);
  std::set<double> distinct;
  for (const double value : values)
    if (!std::isnan(value)) distinct.insert(value + 0.0);
  std::vector<std::int32_t> codes(values.size());
  const std::vector<double> found = factorize_doubles(column_of(values), codes.data());
  CHECK(found == std::vector<double>(distinct.begin(), distinct.end()));
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::isnan(values[i]) ? codes[i] == -1 : found[static_cast<std::size_t>(codes[i])] == values[i]);
  CHECK(factorize_doubles(column_of(std::vector<float>{2.5F, 0.1F}), codes.data())[0] == static_cast<double>(0.1F));
}

}  // namespace
}  // namespace bayesbox::test
