#include "table/sparse.hpp"

#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(sparse_sums_by_class) {
  std::mt19937_64 random(15);
  const std::size_t rows = 300, width = 40;
  const auto labels = random_labels(random, rows, -1, 2);
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int32_t> indices;
  std::vector<double> data, weights(rows);
  ExactArray expected(2 * width), weighted(2 * width);
  for (std::size_t row = 0; row < rows; ++row) {
    weights[row] = row % 3 == 0 ? 1.0 : std::exponential_distribution<double>()(random);
    for (std::size_t k = random() % (row == 7 ? 5000 : 20); k-- > 0;) {
      indices.push_back(static_cast<std::int32_t>(random() % width));
      const int choice = static_cast<int>(random() % 4);
      data.push_back(choice == 0 ? 0.1 : choice == 1 ? -1e200 : choice == 2 ? 4e9 : static_cast<double>(random() % 5));
      if (labels[row] != 0 && labels[row] != 1) continue;
      const std::size_t cell = static_cast<std::size_t>(labels[row]) * width + static_cast<std::size_t>(indices.back());
      expected.add(cell, data.back());
      weighted.add_product(cell, data.back(), weights[row]);
    }
    starts.push_back(static_cast<std::int64_t>(indices.size()));
  }
  const Column weight_column = column_of(weights);
  CHECK(count_sparse(column_of(starts), column_of(indices), column_of(data), width, column_of(labels), 2, nullptr) == expected);
  CHECK(count_sparse(column_of(starts), column_of(indices), column_of(data), width, column_of(labels), 2, &weight_column) == weighted);
}

TEST(bad_sparse_matrices_are_refused) {
  const std::vector<std::int32_t> labels = {0, -1};
  const auto sum = [&](std::vector<std::int32_t> starts, std::vector<std::int32_t> indices, std::vector<double> data) {
    return count_sparse(column_of(starts), column_of(indices), column_of(data), 3, column_of(labels), 1, nullptr);
  };
  CHECK(sum({0, 1, 2}, {2, 0}, {1, 2}).size() == 3);
  CHECK_THROWS(sum({-1, 1, 2}, {0, 0}, {1, 2}), std::invalid_argument);
  CHECK_THROWS(sum({0, 2, 1}, {0, 0}, {1, 2}), std::invalid_argument);
  CHECK_THROWS(sum({0, 1, 3}, {0, 0}, {1, 2}), std::invalid_argument);
  CHECK_THROWS(sum({0, 1, 2}, {0, 3}, {1, 2}), std::invalid_argument);
  CHECK_THROWS(sum({0, 1, 2}, {-1, 0}, {1, 2}), std::invalid_argument);
  CHECK_THROWS(sum({0, 1, 2}, {0, 0}, {1, INFINITY}), std::invalid_argument);
  CHECK_THROWS(sum({0, 1, 2}, {0, 0}, {std::nan(""), 1}), std::invalid_argument);
}

}  // namespace
}  // namespace bayesbox::test
