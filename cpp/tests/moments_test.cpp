#include "table/moments.hpp"

#include <cfloat>

#include "test.hpp"

namespace bayesbox::test {
namespace {

// One value at a time, straight into the limbs.
Moments one_by_one(const Column& column, const std::vector<std::int32_t>& labels, std::size_t classes) {
  Moments sums(classes);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const double x = value_at(column, row);
    if (labels[row] < 0 || labels[row] >= static_cast<std::int32_t>(classes) || std::isnan(x)) continue;
    const auto cell = static_cast<std::size_t>(labels[row]);
    sums.n.add_integer(cell, 1);
    if (std::trunc(x) != x) sums.fractional.add_integer(cell, 1);
    sums.total.add(cell, x);
    sums.squares.add_product(cell, x, x);
  }
  return sums;
}

bool same(const Moments& a, const Moments& b) {
  return a.n == b.n && a.fractional == b.fractional && a.total == b.total && a.squares == b.squares;
}

template <class T>
void check(const std::vector<T>& values, const std::vector<std::int32_t>& labels, std::size_t classes, const char* what) {
  const Column target = column_of(labels);
  const std::vector<Column> columns = {column_of(values)};
  const Moments expected = one_by_one(columns[0], labels, classes);
  on_each_path([&] {
    if (!same(moments(columns, target, classes, nullptr)[0], expected)) fail(__FILE__, __LINE__, what);
  });
}

using Draw = std::function<double(std::mt19937_64&)>;

std::vector<std::pair<const char*, Draw>> kinds_of_data() {
  const auto normal = [](std::mt19937_64& random) { return std::normal_distribution<double>()(random); };
  const auto exponent = [](std::mt19937_64& random, int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  return {
      {"normal", normal},
      {"normal(50, 12)", [=](auto& random) { return 50 + 12 * normal(random); }},
      {"offset 1e12", [=](auto& random) { return 1e12 + normal(random); }},
      {"constant", [](auto&) { return -0.1; }},
      {"zeros", [](auto&) { return 0.0; }},
      {"integers", [=](auto& random) { return std::nearbyint(1000 * normal(random)); }},
      {"large integers", [=](auto& random) { return std::nearbyint(1e17 * normal(random)); }},
      {"powers of two", [=](auto& random) { return std::ldexp(1.0, exponent(random, -40, 40)); }},
      {"mixed scales", [=](auto& random) { return std::ldexp(normal(random), exponent(random, -20, 20)); }},
      {"all scales", [=](auto& random) { return std::ldexp(normal(random), exponent(random, -1000, 1000)); }},
      {"subnormal", [=](auto& random) { return std::ldexp(normal(random), -1060); }},
      {"huge", [=](auto& random) { return 1e300 * normal(random); }},
      {"huge and tiny", [=](auto& random) { return random() % 2 == 0 ? 1e300 : -1e-300; }},
      {"cancelling", [=](auto& random) { return (random() % 2 == 0 ? 1 : -1) * 123456.789; }},
      {"edge of the first unit", [=](auto& random) { return std::ldexp(1.0, 10) - std::ldexp(1.0, 10 - exponent(random, 20, 53)); }},
      {"ties of the pieces", [=](auto& random) {
         return std::ldexp(static_cast<double>(random() % 4096), -1) + std::ldexp(static_cast<double>(random() % 8), -12) +
                std::ldexp(static_cast<double>(random() % 8), -33);
       }},
      {"just too small", [=](auto& random) { return std::ldexp(1.0 + 0x1p-52, exponent(random, -14, -1)); }},
      {"largest", [](auto& random) { return random() % 2 == 0 ? DBL_MAX : -DBL_MAX; }},
      {"with NaN", [=](auto& random) { return random() % 5 == 0 ? std::nan("") : normal(random); }},
      {"all NaN", [](auto&) { return std::nan(""); }},
      {"near the guard", [=](auto& random) { return std::ldexp(normal(random), random() % 2 == 0 ? -300 : -301); }},
      {"near the upper guard", [=](auto& random) { return std::ldexp(normal(random), 478); }},
  };
}

TEST(moments_of_blocks_are_those_of_single_values) {
  std::mt19937_64 random(6);
  for (const auto& [name, draw] : kinds_of_data())
    for (const std::size_t rows : {1u, 7u, 13u, 100u, 2048u, 5000u}) {
      std::vector<double> values(rows);
      for (double& value : values) value = draw(random);
      check(values, random_labels(random, rows, 0, 0), 1, name);
      check(values, random_labels(random, rows, -1, 3), 3, name);
    }
}

TEST(moments_with_any_number_of_classes) {
  std::mt19937_64 random(7);
  const std::size_t rows = 6000;
  std::vector<double> values(rows);
  for (double& value : values) value = std::normal_distribution<double>(3, 2)(random);
  for (const int classes : {1, 2, 50, 700, 2048, 2049, 6000})
    check(values, random_labels(random, rows, 0, classes - 1), static_cast<std::size_t>(classes), "classes");
  std::vector<std::int32_t> own(rows);
  for (std::size_t i = 0; i < rows; ++i) own[i] = static_cast<std::int32_t>(i);
  check(values, own, rows, "a class of its own for each row");
  check(values, std::vector<std::int32_t>(rows, 1), 3, "all in one class");
  check(values, std::vector<std::int32_t>(rows, -5), 3, "none in any class");
  CHECK(moments({column_of(values)}, column_of(own), 0, nullptr)[0].n.size() == 0);
}

TEST(moments_of_integer_and_single_columns) {
  std::mt19937_64 random(8);
  const std::size_t rows = 9000;
  const auto labels = random_labels(random, rows, -1, 2);
  const auto of = [&]<class T>(T low, T high) {
    std::vector<T> values(rows);
    for (T& value : values) value = static_cast<T>(low + static_cast<T>(random() % (static_cast<std::uint64_t>(high - low) + 1)));
    check(values, labels, 3, "integers");
  };
  of.operator()<std::int8_t>(-100, 27);
  of.operator()<std::uint8_t>(0, 1);
  of.operator()<std::uint8_t>(0, 255);
  of.operator()<std::int16_t>(-30000, 2000);
  of.operator()<std::uint16_t>(0, 65535);
  of.operator()<std::int32_t>(-2000000000, 100);
  of.operator()<std::uint32_t>(4000000000u, 4000000100u);
  of.operator()<std::int64_t>((1LL << 60) + 1, (1LL << 60) + 3000);  // values that are no doubles
  of.operator()<std::int64_t>(-(1LL << 62), 1LL << 61);
  of.operator()<std::uint64_t>(~0ULL - 5, ~0ULL);
  std::vector<float> singles(rows);
  for (float& value : singles) value = random() % 9 == 0 ? std::nanf("") : std::normal_distribution<float>()(random);
  check(singles, labels, 3, "floats");
}

TEST(moments_of_a_row_major_matrix) {
  std::mt19937_64 random(9);
  const std::size_t rows = 4100, width = 11;
  std::vector<double> matrix(rows * width);
  for (double& value : matrix) value = random() % 50 == 0 ? std::nan("") : std::normal_distribution<double>()(random);
  const auto labels = random_labels(random, rows, -1, 4);
  std::vector<Column> columns, upside_down, still;
  for (std::size_t j = 0; j < width; ++j) {
    columns.push_back(column_of(matrix, width, j));
    upside_down.push_back(columns[j]);
    upside_down[j].data = columns[j].at(rows - 1);
    upside_down[j].stride = -columns[j].stride;
    still.push_back(columns[j]);
    still[j].stride = 0;
  }
  for (const auto* some : {&columns, &upside_down, &still})
    on_each_path([&] {
      const auto found = moments(*some, column_of(labels), 5, nullptr);
      for (std::size_t j = 0; j < width; ++j) CHECK(same(found[j], one_by_one((*some)[j], labels, 5)));
    });
}

// Column j of the matrix from the j-th kind of data, and on from the first again.
std::vector<double> matrix_of_all_kinds(std::mt19937_64& random, std::size_t rows, std::size_t width) {
  const auto kinds = kinds_of_data();
  std::vector<double> matrix(rows * width);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < width; ++j) matrix[i * width + j] = kinds[j % kinds.size()].second(random);
  return matrix;
}

void check_matrix(const std::vector<double>& matrix, std::size_t width, const std::vector<std::int32_t>& labels, std::size_t classes) {
  std::vector<Column> columns;
  for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
  std::vector<Moments> expected;
  for (const Column& column : columns) expected.push_back(one_by_one(column, labels, classes));
  on_each_path([&] {
    const auto found = moments(columns, column_of(labels), classes, nullptr);
    for (std::size_t j = 0; j < width; ++j)
      if (!same(found[j], expected[j])) fail(__FILE__, __LINE__, "column " + std::to_string(j) + " of " + std::to_string(width));
  });
}

TEST(moments_of_matrices_of_any_width) {
  std::mt19937_64 random(12);
  for (const std::size_t width : {1u, 7u, 8u, 9u, 15u, 16u, 23u, 40u, 130u, 300u})
    for (const std::size_t rows : {1u, 31u, 33u, 1500u}) {
      if (width * rows > 200'000) continue;
      const auto matrix = matrix_of_all_kinds(random, rows, width);
      check_matrix(matrix, width, random_labels(random, rows, -1, 2), 3);
      check_matrix(matrix, width, std::vector<std::int32_t>(rows, 0), 1);
    }
  const auto wide = matrix_of_all_kinds(random, 100, 600);
  check_matrix(wide, 600, random_labels(random, 100, -1, 1), 2);
  check_matrix(wide, 600, random_labels(random, 100, 0, 40), 41);
}

TEST(moments_of_matrices_with_any_number_of_classes) {
  std::mt19937_64 random(13);
  const std::size_t rows = 5000, width = 20;
  std::vector<double> matrix(rows * width);
  for (double& value : matrix) value = random() % 70 == 0 ? std::nan("") : std::normal_distribution<double>(0.01, 2)(random);
  for (const int classes : {1, 2, 60, 700, 1500, 2048})
    check_matrix(matrix, width, random_labels(random, rows, -1, classes - 1), static_cast<std::size_t>(classes));
}

// What the lanes hold is brought to an end where larger or far smaller values come, and where a class has many rows.
TEST(moments_of_matrices_whose_values_grow_and_shrink) {
  std::mt19937_64 random(14);
  const std::size_t rows = 12'000, width = 9;
  std::vector<double> matrix(rows * width);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < width; ++j) {
      const int scale = j % 3 == 0 ? static_cast<int>(i / 400) : j % 3 == 1 ? -static_cast<int>(i / 50) : 0;
      matrix[i * width + j] = std::ldexp(std::normal_distribution<double>()(random), scale);
    }
  check_matrix(matrix, width, random_labels(random, rows, 0, 1), 2);
}

TEST(infinite_values_of_a_matrix) {
  std::mt19937_64 random(15);
  const std::size_t rows = 3000;
  for (const std::size_t width : {12u, 400u}) {
    std::vector<double> matrix(rows * width, 1.5);
    auto labels = random_labels(random, rows, 0, 1);
    matrix[100 * width + 3] = INFINITY;
    labels[100] = -1;  // left out, so never looked at
    check_matrix(matrix, width, labels, 2);
    matrix[2900 * width + 10] = -INFINITY;
    matrix[2000 * width + 11] = INFINITY;
    std::vector<Column> columns;
    for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
    try {
      moments(columns, column_of(labels), 2, nullptr);
      CHECK(false);
    } catch (const InfiniteValue& found) {
      CHECK(found.column == 10 && found.row == 2900);
    }
  }
}

TEST(weighted_moments) {
  std::mt19937_64 random(10);
  const std::size_t rows = 500;
  std::vector<double> values(rows), weights(rows);
  const auto labels = random_labels(random, rows, -1, 2);
  Moments expected(2);
  for (std::size_t i = 0; i < rows; ++i) {
    weights[i] = random() % 4 == 0 ? 0.0 : std::ldexp(std::exponential_distribution<double>()(random), static_cast<int>(random() % 1600) - 800);
    values[i] = weights[i] == 0 ? INFINITY : std::nearbyint(8 * std::normal_distribution<double>()(random)) / 4;
    if (labels[i] < 0 || labels[i] > 1 || weights[i] == 0) continue;
    const auto cell = static_cast<std::size_t>(labels[i]);
    expected.n.add(cell, weights[i]);
    if (std::trunc(values[i]) != values[i]) expected.fractional.add(cell, weights[i]);
    // 4 x is a small integer: w x and w x x by repeated addition
    const int steps = static_cast<int>(std::fabs(4 * values[i]));
    for (int k = 0; k < steps; ++k) expected.total.add_product(cell, weights[i], values[i] < 0 ? -0.25 : 0.25);
    for (int k = 0; k < steps * steps; ++k) expected.squares.add_product(cell, weights[i], 0.0625);
  }
  const Column weight_column = column_of(weights);
  CHECK(same(moments({column_of(values)}, column_of(labels), 2, &weight_column)[0], expected));
}

TEST(infinite_values_are_reported_by_column_and_row) {
  std::mt19937_64 random(11);
  for (const std::size_t classes : {std::size_t{2}, std::size_t{3000}}) {
    const std::size_t rows = 9000;
    std::vector<double> clean(rows, 1.5), spoilt(rows, 2.5);
    auto labels = random_labels(random, rows, 0, 1);
    spoilt[100] = -INFINITY;
    labels[100] = -1;  // left out, so never looked at
    spoilt[8000] = INFINITY;
    spoilt[8001] = -INFINITY;
    try {
      moments({column_of(clean), column_of(spoilt)}, column_of(labels), classes, nullptr);
      CHECK(false);
    } catch (const InfiniteValue& found) {
      CHECK(found.column == 1 && found.row == 8000);
    }
  }
}

}  // namespace
}  // namespace bayesbox::test
