#include "table/grid.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "test.hpp"

namespace bayesbox::test {
namespace {

using Cells = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;

Cells as_map(const GridCounts& counts) {
  Cells found;
  for (std::size_t i = 0; i < counts.cells.size(); ++i) found[{counts.labels[i], counts.cells[i]}] += counts.counts[i];
  CHECK(found.size() == counts.cells.size());
  for (std::size_t i = 1; i < counts.cells.size(); ++i)
    CHECK(std::tuple(counts.labels[i - 1], counts.cells[i - 1]) < std::tuple(counts.labels[i], counts.cells[i]));
  return found;
}

// By the definition: the sign, and eight steps for each power of two, which `frexp` gives.
std::int32_t cell_by_definition(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(value), &exponent);  // in [1/2, 1)
  const bool subnormal = std::abs(value) < std::numeric_limits<double>::min();
  const int steps = subnormal ? static_cast<int>(std::ldexp(std::abs(value), 1022) * 8)
                              : (exponent + 1022) * 8 + static_cast<int>((mantissa * 2 - 1) * 8);
  return value < 0 ? -(steps + 1) : steps + 1;
}

template <class T>
void check_counts(const std::vector<T>& matrix, std::size_t width, const std::vector<std::int32_t>& labels, std::int32_t classes) {
  std::vector<Column> columns;
  for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
  std::vector<Cells> expected(width);
  for (std::size_t j = 0; j < width; ++j)
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const double value = value_at(columns[j], row);
      if (labels[row] >= 0 && labels[row] < classes && std::isfinite(value))
        ++expected[j][{labels[row], cell_by_definition(value)}];
    }
  on_each_path([&] {
    const auto found = count_grids(columns, column_of(labels), static_cast<std::size_t>(classes));
    CHECK(found.size() == width);
    for (std::size_t j = 0; j < width; ++j) CHECK(as_map(found[j]) == expected[j]);
  });
}

TEST(grid_cells_by_their_definition) {
  const double least = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
  CHECK(grid_cell(0.0) == 0 && grid_cell(-0.0) == 0);
  CHECK(grid_cell(least) == 1 && grid_cell(-least) == -1);
  CHECK(grid_cell(most) == kLastGridCell && grid_cell(-most) == -kLastGridCell);
  CHECK(grid_cell(std::nan("")) == kNoGridCell && grid_cell(-std::numeric_limits<double>::infinity()) == kNoGridCell);
  CHECK(grid_cell(1.0) + 1 == grid_cell(1.125) && grid_cell(1.0) == grid_cell(std::nextafter(1.125, 0)));
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) CHECK(grid_cell(value) == cell_by_definition(value));
  }
}

TEST(grids_of_columns) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (const std::size_t width : {1u, 5u})
    for (const int classes : {1, 3, 40})
      for (const std::size_t rows : {0u, 1u, 100u, 9001u}) {
        std::vector<double> numbers(rows * width), wild(rows * width);
        for (double& x : numbers) {
          const auto kind = random() % 8;
          x = kind == 0 ? 0.0 : kind == 1 ? std::nan("") : kind == 2 ? -0.0 : normal(random) * 50;
        }
        for (double& x : wild) x = std::bit_cast<double>(random());
        const auto labels = random_labels(random, rows, -1, classes);
        check_counts(numbers, width, labels, classes);
        check_counts(wild, width, labels, classes);
        check_counts(std::vector<float>(numbers.begin(), numbers.end()), width, labels, classes);
        std::vector<std::int64_t> whole(rows * width);
        for (std::int64_t& x : whole) x = static_cast<std::int64_t>(random() % 300) - 20;
        check_counts(whole, width, labels, classes);
      }
  std::vector<double> wild(3000);  // so many classes and so wide a range that the cells are sorted
  for (double& x : wild) x = std::bit_cast<double>(random());
  check_counts(wild, 1, random_labels(random, wild.size(), -1, 5000), 5000);
  check_counts(std::vector<double>(5000, 0.0), 1, random_labels(random, 5000, 0, 2), 2);
}

}  // namespace
}  // namespace bayesbox::test
