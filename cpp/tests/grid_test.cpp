#include "table/grid.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "table/grid_sum.hpp"
#include "table/moments.hpp"
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

// Counts beside the moments, against counts of all columns and moments of each.
template <class T>
void check_beside_moments(const std::vector<T>& matrix, std::size_t width, const std::vector<std::int32_t>& labels, std::size_t classes) {
  std::vector<Column> columns;
  for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
  const Column target = column_of(labels);
  on_each_path([&] {
    const auto grids = count_grids(columns, target, classes);
    const auto together = moments(columns, target, classes, nullptr);
    const auto found = moments_and_grids(columns, target, classes);
    CHECK(found.grids.size() == width && found.moments.size() == width);
    for (std::size_t j = 0; j < width; ++j) {
      CHECK(as_map(found.grids[j]) == as_map(grids[j]));
      const Moments alone = moments({columns[j]}, target, classes, nullptr)[0];
      for (const Moments* sums : {&found.moments[j], &together[j]}) {
        CHECK(sums->n == alone.n && sums->fractional == alone.fractional);
        CHECK(sums->total == alone.total && sums->squares == alone.squares);
      }
    }
  });
}

TEST(grids_beside_moments) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const std::size_t rows = 25001, width = 5;
  const double least = std::numeric_limits<double>::denorm_min();
  const std::array<double, 6> rare{0.0, -0.0, std::nan(""), least, -3 * least, std::numeric_limits<double>::max()};
  for (const int classes : {1, 3}) {
    const auto labels = random_labels(random, rows, -1, classes);
    std::vector<double> numbers(rows * width), zeros(rows * width), mixed(rows * width), wild(rows * width);
    for (double& x : numbers) x = normal(random) * 50;
    for (double& x : zeros) x = random() % 4 == 0 ? 1e-30 * normal(random) : random() % 9 == 0 ? std::nan("") : 0.0;
    for (double& x : mixed) x = random() % 3 == 0 ? rare[random() % rare.size()] : normal(random);
    for (double& x : wild) {
      x = std::bit_cast<double>(random());
      if (std::isinf(x)) x = std::nan("");
    }
    for (const auto& matrix : {numbers, zeros, mixed, wild}) check_beside_moments(matrix, width, labels, static_cast<std::size_t>(classes));
    check_beside_moments(std::vector<float>(numbers.begin(), numbers.end()), width, labels, static_cast<std::size_t>(classes));
    std::vector<std::int64_t> small(rows * width), large(rows * width);
    for (std::int64_t& x : small) x = static_cast<std::int64_t>(random() % 300) - 20;
    for (std::int64_t& x : large) x = static_cast<std::int64_t>(random());
    check_beside_moments(small, width, labels, static_cast<std::size_t>(classes));
    check_beside_moments(large, width, labels, static_cast<std::size_t>(classes));
  }
}

TEST(grids_of_more_columns_than_are_counted_together) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  const std::size_t rows = 24577;
  std::vector<double> values(rows);
  for (double& x : values) x = normal(random);
  const auto labels = random_labels(random, rows, 0, 3);
  std::vector<Column> columns(200, column_of(values));
  const GridCounts expected = count_grids({columns[0]}, column_of(labels), 3)[0];
  const auto found = moments_and_grids(columns, column_of(labels), 3);
  CHECK(found.grids.size() == columns.size() && found.moments.size() == columns.size());
  for (const GridCounts& grid : found.grids) CHECK(grid.cells == expected.cells && grid.counts == expected.counts);
  std::vector<double> infinite = values;
  infinite[700] = std::numeric_limits<double>::infinity();
  columns[150] = column_of(infinite);
  try {
    moments_and_grids(columns, column_of(labels), 3);
    CHECK(false);
  } catch (const InfiniteValue& place) {
    CHECK(place.column == 150 && place.row == 700);
  }
}

TEST(grids_of_wide_tables_are_those_of_the_others) {
  std::mt19937_64 random(21);
  std::normal_distribution<double> normal;
  const double odd[] = {std::nan(""), 0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e300, -1e300, std::numeric_limits<double>::max()};
  for (const std::size_t width : {1, 3, 6, 21, 150, 300})
    for (const std::size_t rows : {0, 1, 700, 2500})
      for (const std::int32_t classes : {1, 3, 400, 2100}) {
        if (width >= 150 && (rows < 700 || classes > 400)) continue;
        const std::vector<std::int32_t> labels = random_labels(random, rows, -1, classes);
        std::vector<double> matrix;
        for (std::size_t i = 0; i < rows * width; ++i)
          matrix.push_back(i % width % 2 == 1 && random() % 9 == 0 ? odd[random() % std::size(odd)] : normal(random));
        check_beside_moments(matrix, width, labels, static_cast<std::size_t>(classes));
      }
}

TEST(grids_added_and_subtracted) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 200; ++round) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> expected;
    const int sign = round % 2 == 0 ? 1 : -1;
    ExactGrid grids[2];
    for (const int which : {0, 1}) {
      std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> drawn;
      for (std::size_t i = random() % 20; i > 0; --i)
        drawn[{static_cast<std::int32_t>(random() % 3), static_cast<std::int32_t>(random() % 7) - 3}] = 1 + static_cast<std::int64_t>(random() % 2);
      LargeVector<std::int64_t> counts;
      for (const auto& [key, count] : drawn) {
        grids[which].labels.push_back(key.first);
        grids[which].cells.push_back(key.second);
        counts.push_back(count);
        if ((expected[key] += which == 0 ? count : sign * count) == 0) expected.erase(key);
      }
      grids[which].counts = ExactArray::of_integers(std::move(counts));
    }
    const ExactGrid sum = add_grids(grids[0], grids[1], sign);
    CHECK(sum.size() == expected.size() && sum.counts.size() == expected.size());
    std::size_t i = 0;
    for (const auto& [key, count] : expected) {
      Magnitude scratch;
      std::int64_t found = 0;
      CHECK(sum.key(i) == key && sum.counts.as_int64(i, scratch, found) && found == count);
      ++i;
    }
  }
}

}  // namespace
}  // namespace bayesbox::test
