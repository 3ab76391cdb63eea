#include "table/comoments.hpp"

#include <cmath>

#include "table/quadratic.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

// One value at a time, straight into the limbs.
CoMoments one_by_one(const std::vector<Column>& columns, const std::vector<std::int32_t>& labels, std::size_t groups) {
  const std::size_t width = columns.size();
  CoMoments sums(groups, width);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto group = static_cast<std::size_t>(static_cast<std::uint32_t>(labels[row]));
    if (group >= groups) continue;
    for (std::size_t i = 0; i < width; ++i) {
      const double x = value_at(columns[i], row);
      if (std::isnan(x)) continue;
      sums.totals.add(group * width + i, x);
      for (std::size_t j = i; j < width; ++j) {
        const double y = value_at(columns[j], row);
        if (!std::isnan(y)) sums.products.add_product(group * pair_count(width) + pair_place(i, j, width), x, y);
      }
    }
  }
  return sums;
}

void check(const std::vector<Column>& columns, const std::vector<std::int32_t>& labels, std::size_t groups) {
  const CoMoments expected = one_by_one(columns, labels, groups);
  const Column target = column_of(labels);
  on_each_path([&] {
    const CoMoments found = comoments(columns, target, groups, nullptr);
    CHECK(found.totals == expected.totals);
    CHECK(found.products == expected.products);
  });
}

TEST(comoments_of_all_scales) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (const int spread : {0, 5, 30, 900})
    for (const std::size_t width : {1, 3, 8}) {
      const std::size_t rows = 1500;
      std::vector<double> matrix(rows * width);
      for (double& value : matrix) {
        value = std::ldexp(normal(random), spread == 0 ? 0 : static_cast<int>(random() % (2 * spread)) - spread);
        if (random() % 20 == 0) value = std::nan("");
      }
      std::vector<Column> columns;
      for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
      check(columns, random_labels(random, rows, -1, 3), 3);
      check(columns, random_labels(random, rows, 0, 700), 700);
    }
}

TEST(comoments_of_nothing) {
  const std::vector<std::int32_t> labels = {0, 1};
  check({}, labels, 2);
  const std::vector<double> values = {1.5, 2.5};
  check({column_of(values)}, labels, 0);
  check({column_of(std::vector<double>{})}, {}, 2);
}

TEST(quadratic_forms_are_the_same_on_each_path) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const std::size_t rows = 700, width = 5;
  std::vector<double> matrix(rows * width), factor(width * width), mean(width, 0.5), rest(width, 0.0);
  for (double& value : matrix) value = normal(random);
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t j = 0; j <= i; ++j) factor[i * width + j] = normal(random);
  std::vector<Column> columns;
  for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
  const std::vector<JointNormal> normals = {{mean.data(), rest.data(), factor.data(), -1.0}};
  std::vector<std::vector<double>> found;
  on_each_path([&] {
    found.emplace_back(rows);
    CHECK(QuadraticForms(columns, normals).run(rows, found.back().data()));
  });
  for (const std::vector<double>& each : found) CHECK(each == found.front());
  double square = 0;
  for (std::size_t i = 0; i < width; ++i) {
    double z = 0;
    for (std::size_t j = 0; j <= i; ++j) z += factor[i * width + j] * (matrix[j] - mean[j]);
    square += z * z;
  }
  CHECK(std::abs(found.front()[0] - (-1.0 - square / 2)) < 1e-12 * (1 + square));
  matrix[13] = std::nan("");
  CHECK(!QuadraticForms(columns, normals).run(rows, found.front().data()));
}

}  // namespace
}  // namespace bayesbox::test
