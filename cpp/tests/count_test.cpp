#include "table/count.hpp"

#include <cmath>

#include <map>

#include "test.hpp"

namespace bayesbox::test {
namespace {

template <class T>
std::vector<std::int64_t> counted(const Column& column, std::size_t size, const std::vector<std::int32_t>& labels,
                                  std::size_t classes) {
  std::vector<std::int64_t> counts(classes * size);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto code = static_cast<int128>(load<T>(column.at(row)));
    if (labels[row] < 0 || labels[row] >= static_cast<std::int32_t>(classes)) continue;
    if (code >= 0 && code < static_cast<int128>(size)) ++counts[static_cast<std::size_t>(labels[row]) * size + static_cast<std::size_t>(code)];
  }
  return counts;
}

template <class T>
void check_codes(std::mt19937_64& random, std::size_t rows, int classes, std::size_t size) {
  std::vector<T> matrix(rows * 3);
  for (T& code : matrix) code = static_cast<T>(static_cast<std::int64_t>(random() % (size + size / 4 + 3)) - 1);
  const auto labels = random_labels(random, rows, -1, classes);
  const std::vector<Column> columns = {column_of(matrix, 3, 0), column_of(matrix, 3, 2)};
  on_each_path([&] {
    const auto found = count_codes(columns, {size, size / 2}, column_of(labels), static_cast<std::size_t>(classes));
    CHECK(found[0] == counted<T>(columns[0], size, labels, static_cast<std::size_t>(classes)));
    CHECK(found[1] == counted<T>(columns[1], size / 2, labels, static_cast<std::size_t>(classes)));
  });
}

TEST(counts_of_codes) {
  std::mt19937_64 random(12);
  for (const std::size_t size : {0u, 1u, 2u, 8u, 40u, 300u, 700u, 20000u, 70000u})
    for (const int classes : {1, 3, 20})
      for (const std::size_t rows : {0u, 1u, 33u, 9001u}) {
        check_codes<std::uint8_t>(random, rows, classes, size);
        check_codes<std::int8_t>(random, rows, classes, size);
        check_codes<std::int32_t>(random, rows, classes, size);
        check_codes<std::int64_t>(random, rows, classes, size);
      }
  check_codes<std::uint16_t>(random, 5000, 2, 100);
  check_codes<std::int16_t>(random, 5000, 2, 100);
  check_codes<std::uint32_t>(random, 5000, 2, 100);
  check_codes<std::uint64_t>(random, 5000, 2, 100);
}

template <class T>
void check_matrix(std::mt19937_64& random, std::size_t rows, std::size_t width) {
  std::vector<T> matrix(rows * width);
  for (T& code : matrix) code = static_cast<T>(random() % 11);
  const auto labels = random_labels(random, rows, -1, 2);
  std::vector<Column> columns;
  for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
  on_each_path([&] {
    const auto codes = count_codes(columns, std::vector<std::size_t>(width, 10), column_of(labels), 2);
    const auto integers = count_integers(columns, column_of(labels), 2, 100);
    for (std::size_t j = 0; j < width; ++j) {
      CHECK(codes[j] == counted<T>(columns[j], 10, labels, 2));
      CHECK(integers[j]->lowest == 0 && integers[j]->counts == counted<T>(columns[j], 11, labels, 2));
    }
  });
}

TEST(counts_of_a_row_major_matrix) {
  std::mt19937_64 random(20);
  for (const std::size_t width : {1u, 4u, 9u}) {
    check_matrix<std::int64_t>(random, 3001, width);
    check_matrix<std::uint64_t>(random, 3001, width);
    check_matrix<std::int32_t>(random, 3001, width);
    check_matrix<std::uint8_t>(random, 9001, width);
  }
}

// Blocks of small whole numbers are read as bytes, others as they are: the counts are those of each value by itself.
template <class T>
void check_mixed_blocks(std::mt19937_64& random, std::size_t width, const std::vector<T>& rare) {
  const std::size_t rows = 20'000;
  std::vector<T> matrix(rows * width);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const bool late = i > matrix.size() / 2 && random() % 1000 == 0;
    matrix[i] = late ? rare[random() % rare.size()] : static_cast<T>(random() % 5);
  }
  const auto labels = random_labels(random, rows, -1, 3);
  std::vector<Column> columns;
  for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
  on_each_path([&] {
    const auto found = count_integers(columns, column_of(labels), 3, 5000);
    for (std::size_t j = 0; j < width; ++j) {
      CHECK(found[j].has_value());
      std::vector<std::int64_t> expected(3 * found[j]->width);
      for (std::size_t i = 0; i < rows; ++i) {
        const T value = matrix[i * width + j];
        if (labels[i] < 0 || labels[i] >= 3 || value != value) continue;
        const auto level = static_cast<std::size_t>(static_cast<int128>(value) - found[j]->lowest);
        CHECK(level < found[j]->width);
        ++expected[static_cast<std::size_t>(labels[i]) * found[j]->width + level];
      }
      CHECK(found[j]->counts == expected);
    }
  });
}

TEST(blocks_of_small_numbers_among_others) {
  std::mt19937_64 random(21);
  for (const std::size_t width : {1u, 4u, 7u}) {
    check_mixed_blocks<std::int64_t>(random, width, {-3, 300, 4000});
    check_mixed_blocks<std::uint64_t>(random, width, {256, 4095});
    check_mixed_blocks<double>(random, width, {-2, 255, 256, 1000, -0.0, std::nan("")});
    check_mixed_blocks<float>(random, width, {-2, 256, std::nanf("")});
  }
}

TEST(doubles_that_are_no_whole_numbers_are_not_counted) {
  const std::vector<std::int32_t> labels(100, 0);
  for (const double value : {0.5, 1e-300, 1e17, -1e300, static_cast<double>(INFINITY), 0x1p52})
    for (const std::size_t width : {1u, 5u}) {
      std::vector<double> matrix(100 * width, 1.0);
      matrix[70 * width] = value;
      std::vector<Column> columns;
      for (std::size_t j = 0; j < width; ++j) columns.push_back(column_of(matrix, width, j));
      on_each_path([&] {
        const auto found = count_integers(columns, column_of(labels), 1, 1000);
        CHECK(!found[0].has_value());
        for (std::size_t j = 1; j < width; ++j) CHECK(found[j].has_value() && found[j]->counts == std::vector<std::int64_t>{100});
      });
    }
}

TEST(tallies_are_drained_before_they_overflow) {
  std::mt19937_64 random(13);
  for (const std::size_t width : {std::size_t{2}, std::size_t{90}, std::size_t{3000}}) {
    const std::size_t rows = 256;
    const auto labels = random_labels(random, rows, 0, 2);
    std::vector<std::uint16_t> values(rows);
    for (auto& value : values) value = static_cast<std::uint16_t>(random() % width);
    LevelCounter often(3, 300), seldom(3);
    for (LevelCounter* counter : {&often, &seldom}) {
      counter->set_width(width);
      LabelBlock block(3, rows);
      block.read(column_of(labels), 0, rows);
      for (int i = 0; i < 10; ++i) counter->add<std::uint16_t>(values.data(), 0, block, false);
      std::int64_t drained = 0;
      for (const std::int64_t count : counter->counts()) drained += count;
      CHECK(drained == (counter == &often ? 9 * 256 : 0));  // all but the last block; nothing
      counter->drain();
    }
    CHECK(often.counts() == seldom.counts());
    std::int64_t sum = 0;
    for (const std::int64_t count : often.counts()) sum += count;
    CHECK(sum == 2560);
  }
}

template <class T>
void check_integers(const std::vector<T>& values, const std::vector<std::int32_t>& labels, std::size_t classes,
                    std::uint64_t limit) {
  std::map<int128, std::vector<std::int64_t>> counts;
  for (std::size_t row = 0; row < values.size(); ++row)
    if (labels[row] >= 0 && labels[row] < static_cast<std::int32_t>(classes)) {
      auto& by_class = counts[values[row]];
      by_class.resize(classes);
      ++by_class[static_cast<std::size_t>(labels[row])];
    }
  on_each_path([&] {
    const auto found = count_integers({column_of(values)}, column_of(labels), classes, limit)[0];
    if (counts.empty()) {
      CHECK(found && found->width == 0);
      return;
    }
    const int128 lowest = counts.begin()->first, range = counts.rbegin()->first - lowest + 1;
    CHECK(found.has_value() == (range <= static_cast<int128>(limit)));
    if (!found) return;
    CHECK(found->lowest == lowest && static_cast<int128>(found->width) == range);
    CHECK(found->counts.size() == classes * found->width);
    for (std::size_t level = 0; level < found->width; ++level) {
      const auto at = counts.find(lowest + static_cast<int128>(level));
      for (std::size_t label = 0; label < classes; ++label)
        CHECK(found->counts[label * found->width + level] == (at == counts.end() ? 0 : at->second[label]));
    }
  });
}

TEST(counts_of_integers) {
  std::mt19937_64 random(14);
  const std::size_t rows = 10000;
  const auto labels = random_labels(random, rows, -1, 3);
  const auto of = [&]<class T>(std::uint64_t limit, const std::function<T(std::size_t)>& value) {
    std::vector<T> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = value(i);
    check_integers(values, labels, 3, limit);
  };
  of.operator()<std::uint8_t>(300, [&](auto) { return static_cast<std::uint8_t>(random()); });
  of.operator()<std::int8_t>(256, [&](auto) { return static_cast<std::int8_t>(random()); });
  of.operator()<std::int8_t>(255, [&](auto) { return static_cast<std::int8_t>(random()); });
  of.operator()<std::int16_t>(1000, [&](auto) { return static_cast<std::int16_t>(random() % 7 - 3); });
  of.operator()<std::int64_t>(10000, [](auto i) { return static_cast<std::int64_t>(i) / 3; });         // growing upwards
  of.operator()<std::int64_t>(10000, [](auto i) { return -static_cast<std::int64_t>(i) / 3; });        // downwards
  of.operator()<std::int64_t>(3000, [](auto i) { return static_cast<std::int64_t>(i) / 3; });          // too far
  for (std::uint64_t limit = 3330; limit < 3338; ++limit)
    for (const std::int64_t sign : {1, -1})
      of.operator()<std::int64_t>(limit, [=](auto i) { return sign * static_cast<std::int64_t>(i) / 3; });
  of.operator()<std::int64_t>(1 << 20, [](auto i) { return static_cast<std::int64_t>(i * i % 99991); });
  of.operator()<std::int64_t>(5, [](auto i) { return INT64_MIN + static_cast<std::int64_t>(i % 5); });
  of.operator()<std::int64_t>(5, [](auto i) { return INT64_MAX - static_cast<std::int64_t>(i % 5); });
  of.operator()<std::int64_t>(1000, [](auto i) { return i % 2 == 0 ? INT64_MAX : INT64_MIN; });
  of.operator()<std::uint64_t>(8, [](auto i) { return ~0ULL - i % 8; });
  of.operator()<std::uint64_t>(8, [](auto i) { return (1ULL << 63) - 4 + i % 8; });
  of.operator()<std::uint32_t>(0, [](auto) { return 1u; });
  check_integers(std::vector<std::int32_t>(rows, 7), std::vector<std::int32_t>(rows, -1), 2, 10);
  // A value far away in a row that is left out does not widen the range.
  std::vector<std::int32_t> values(rows, 4), some = labels;
  values[9999] = INT32_MAX;
  some[9999] = 77;
  check_integers(values, some, 3, 10);
}

TEST(weighted_counts_of_codes) {
  const std::vector<std::int16_t> codes = {0, 1, 1, -1, 2, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 1, 0, 1, 0, -1};
  const std::vector<double> weights = {0.5, 1e300, -1e-300, 7, 0.25, 9, 11};
  const ExactArray found = count_codes_weighted(column_of(codes), 3, column_of(labels), 2, column_of(weights));
  ExactArray expected(6);
  expected.add(0, 0.5);
  expected.add(4, 1e300);
  expected.add(4, -1e-300);
  expected.add(5, 0.25);
  CHECK(found == expected);
}

}  // namespace
}  // namespace bayesbox::test
