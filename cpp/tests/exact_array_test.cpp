#include "core/exact_array.hpp"

#include <cfloat>

#include "core/exact_text.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

double any_finite(std::mt19937_64& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

double rounded(const ExactArray& array, std::size_t cell = 0) {
  Magnitude scratch;
  return array.rounded(cell, scratch);
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

std::string text(const ExactArray& array) { return ExactText::write(array); }

TEST(a_double_comes_back) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double value = any_finite(random);
    ExactArray array(1);
    array.add(0, value);
    CHECK(same_bits(rounded(array), value));
  }
  for (const double value : {0.0, DBL_MAX, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_MIN - DBL_TRUE_MIN}) {
    ExactArray array(1);
    array.add(0, value);
    CHECK(same_bits(rounded(array), value));
  }
}

// One addition or multiplication of doubles rounds the exact result once, to nearest, as IEEE 754 asks for.
TEST(sums_of_two_round_as_the_processor_does) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50000; ++i) {
    // Up to 58 binary places apart, so that one number may lie wholly below the last bit of the other.
    const int exponent = std::uniform_int_distribution<int>(-1074, 900)(random);
    const int distance = std::uniform_int_distribution<int>(0, 58)(random);
    const double a = std::ldexp(static_cast<double>(random() >> 11), exponent);
    const double b = std::ldexp(static_cast<double>(random() >> 11), exponent - distance) * (i % 2 == 0 ? 1 : -1);
    ExactArray array(1);
    array.add(0, a);
    array.add(0, b);
    CHECK(same_bits(rounded(array), a + b));
  }
}

TEST(ties_go_to_even) {
  for (const int unit : {-1074, -1070, -500, 0, 3, 900})
    for (std::int64_t mantissa = (1LL << 52) + 1; mantissa < (1LL << 52) + 5; ++mantissa)
      for (int quarter = 0; quarter < 8; ++quarter) {
        ExactArray array(1);
        array.add_integer(0, 4 * mantissa + quarter, unit - 2);
        const std::int64_t floor = mantissa + quarter / 4, rest = quarter % 4;
        const std::int64_t nearest = floor + (rest > 2 || (rest == 2 && floor % 2 != 0) ? 1 : 0);
        CHECK(rounded(array) == std::ldexp(static_cast<double>(nearest), unit));
      }
}

TEST(subnormal_results_round_once) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const double a = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, -500 - static_cast<int>(random() % 100));
    const double b = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, -500 - static_cast<int>(random() % 60));
    ExactArray array(1);
    array.add_product(0, a, -b);
    CHECK(same_bits(rounded(array), -a * b));
  }
  ExactArray half(1);
  half.add_integer(0, 1, -1075);  // a tie between 0 and the smallest subnormal
  CHECK(rounded(half) == 0.0);
  half.add_integer(0, 1, -3000);
  CHECK(rounded(half) == DBL_TRUE_MIN);
}

TEST(overflow_rounds_to_infinity) {
  ExactArray array(1);
  array.add(0, DBL_MAX);
  array.add_integer(0, 1, 970 - 1);
  CHECK(rounded(array) == DBL_MAX);
  array.add_integer(0, 1, 970 - 1);  // half a unit in the last place: a tie, to even, which is beyond the range
  CHECK(std::isinf(rounded(array)));
  array.add(0, -DBL_MAX);
  CHECK(rounded(array) == std::ldexp(1.0, 970));
}

TEST(extreme_products_are_exact) {
  ExactArray array(4);
  array.add_product(0, DBL_TRUE_MIN, DBL_TRUE_MIN, DBL_TRUE_MIN);
  array.add_product(1, 1e300, 1e300, 1e300);
  array.add_product(2, -1e300, 1e-300);
  array.add_product(3, 1e300, 1e300);
  CHECK(text(array).substr(0, 7) == "1p-3222");
  ExactArray again(4);
  again.add_product(1, 1e300, 1e300, 1e300);
  again.merge(array, nullptr, -1);
  CHECK(text(again).find("\n0\n") != std::string::npos);
  // (2^53 - 1)^3 in full
  ExactArray cube(1);
  const double odd = 9007199254740991.0;
  cube.add_product(0, odd, odd, odd);
  CHECK(text(cube) == "7ffffffffffff40000000000005fffffffffffffp0\n");
}

TEST(the_window_grows_at_both_ends) {
  ExactArray array(3), backwards(3);
  const std::vector<double> values = {1, 1e300, -1e-300, 5e-324, -3.5, 1e18, DBL_MAX, 0.1};
  for (const double value : values) array.add(1, value);
  for (std::size_t i = values.size(); i-- > 0;) backwards.add(1, values[i]);
  CHECK(array == backwards);
  for (const double value : values) array.add(1, -value);
  CHECK(text(array) == "0\n0\n0\n");
  CHECK(array == ExactArray(3));
  CHECK(array.is_integral());
}

TEST(any_order_gives_the_same_cell) {
  std::mt19937_64 random(4);
  std::vector<double> values(500);
  for (double& value : values) value = any_finite(random);
  ExactArray first(1), second(1);
  for (const double value : values) first.add(0, value);
  std::shuffle(values.begin(), values.end(), random);
  for (const double value : values) second.add(0, value);
  CHECK(first == second);
  CHECK(text(first) == text(second));
  for (const double value : values) second.add(0, -value);
  CHECK(!(first == second));
  CHECK(second == ExactArray(1));
}

TEST(lazy_carries_never_overflow) {
  // 2^20 additions of the largest mantissa into the same limbs, up and down again, without a carry between.
  ExactArray array(1), product(1);
  const double largest = 9007199254740991.0;
  for (int i = 0; i < 1 << 20; ++i) array.add(0, -largest);
  product.add_product(0, -largest, 1048576.0);
  CHECK(array == product);
  array.carry();
  CHECK(array == product);
  CHECK(text(array) == "-1fffffffffffffp20\n");
  for (int i = 0; i < 1 << 20; ++i) array.add(0, largest);
  CHECK(text(array) == "0\n");
}

TEST(many_uncarried_cells_into_one_carry_in_time) {
  // 2^23 cells of 2^10 lazy additions each: 2^65 in a limb, were it never carried.
  ExactArray one(1), sum(1);
  for (int i = 0; i < 1 << 10; ++i) one.add(0, 9007199254740991.0);
  const std::vector<std::int64_t> all(1 << 17, 0);
  const ExactArray many = one.take(all.data(), all.size());
  for (int i = 0; i < 1 << 6; ++i) sum.merge(many, all.data(), -1);
  CHECK(text(sum) == "-1fffffffffffffp33\n");
}

TEST(groups_of_cells_are_added_where_they_belong) {
  std::mt19937_64 random(5);
  for (const int width : {1, 3}) {
    const std::vector<std::int64_t> place = {2, 0, 2, 4};
    std::vector<std::int64_t> spread;
    for (const std::int64_t each : place)
      for (int k = 0; k < width; ++k) spread.push_back(each * width + k);
    for (const bool whole : {true, false}) {
      ExactArray some(3 * width), other(4 * width);
      for (std::size_t cell = 0; cell < some.size(); ++cell) some.add(cell, 1.0 + static_cast<double>(cell));
      for (std::size_t cell = 0; cell < other.size(); ++cell)
        other.add(cell, whole ? static_cast<double>(cell) : any_finite(random));
      ExactArray found = some.lengthened(5 * width), expected(5 * width);
      CHECK(found.size() == static_cast<std::size_t>(5 * width));
      for (std::size_t cell = 0; cell < some.size(); ++cell) expected.add(cell, 1.0 + static_cast<double>(cell));
      CHECK(found == expected);
      found.merge_groups(other, place, width);
      expected.merge(other, spread.data(), 1);
      CHECK(found == expected);
      CHECK(some.size() == static_cast<std::size_t>(3 * width));
    }
  }
}

TEST(groups_of_cells_carry_in_time) {
  ExactArray one(1), sum(1);
  for (int i = 0; i < 1 << 10; ++i) one.add(0, 9007199254740991.0);
  const std::vector<std::int64_t> all(1 << 17, 0);
  const ExactArray many = one.take(all.data(), all.size());
  for (int i = 0; i < 1 << 6; ++i) sum.merge_groups(many, all, 1);
  CHECK(text(sum) == "1fffffffffffffp33\n");
}

TEST(doubling_carries_in_time) {
  // Doubling by merging counts as many lazy additions as the array had, so the limit is met again and again.
  ExactArray array(2);
  array.add(0, -9007199254740991.0);
  array.add(1, 0.3);
  for (int i = 0; i < 400; ++i) array.merge(array, nullptr, 1);
  ExactArray expected(2);
  expected.add_product(0, -9007199254740991.0, std::ldexp(1.0, 400));
  expected.add_product(1, 0.3, std::ldexp(1.0, 400));
  CHECK(array == expected);
  const std::vector<std::int64_t> both(2, 0);
  ExactArray sum(1);
  for (int i = 0; i < 3; ++i) sum.merge(array, both.data(), 1);
  expected.merge(expected, nullptr, 1);
  ExactArray thrice(1);
  thrice.merge(expected, both.data(), 1);
  thrice.merge(array, both.data(), 1);
  CHECK(sum == thrice);
}

TEST(merge_by_index_and_take) {
  ExactArray array(3);
  for (std::size_t i = 0; i < 3; ++i) array.add(i, 0.5 + static_cast<double>(i));
  const std::vector<std::int64_t> index = {2, 2, 0};
  ExactArray groups(3);
  groups.merge(array, index.data(), 1);
  CHECK(text(groups) == "5p-1\n0\n1p1\n");
  groups.merge(array, index.data(), -1);
  CHECK(groups == ExactArray(3));
  const std::vector<std::int64_t> picks = {1, -1, 1, 0};
  CHECK(text(array.take(picks.data(), picks.size())) == "3p-1\n0\n3p-1\n1p-1\n");
}

TEST(equality_is_of_numbers) {
  ExactArray a(1), b(1), c(2);
  a.add(0, 5.0);
  b.add(0, 5.0);
  b.add(0, 1e300);
  b.add(0, -1e300);
  b.add(0, 1e-300);
  CHECK(!(a == b));
  b.add(0, -1e-300);
  CHECK(a == b);
  b.add(0, -10.0);
  CHECK(!(a == b));
  CHECK(!(a == c));
}

TEST(integers_and_signs) {
  ExactArray array(5);
  array.add_integer(0, INT64_MIN);
  array.add_integer(1, INT64_MAX);
  array.add_integer(2, static_cast<int128>(INT64_MAX) + 1);
  array.add(3, 0.5);
  Magnitude scratch;
  std::int64_t value = 0;
  CHECK(array.as_int64(0, scratch, value) && value == INT64_MIN);
  CHECK(array.as_int64(1, scratch, value) && value == INT64_MAX);
  CHECK(!array.as_int64(2, scratch, value));
  CHECK(!array.as_int64(3, scratch, value));
  CHECK(array.as_int64(4, scratch, value) && value == 0);
  CHECK(array.sign(0, scratch) == -1 && array.sign(1, scratch) == 1 && array.sign(4, scratch) == 0);
  CHECK(!array.is_integral());
  array.add(3, 0.5);
  CHECK(array.is_integral());
  CHECK(array.as_int64(3, scratch, value) && value == 1);
}

}  // namespace
}  // namespace bayesbox::test
