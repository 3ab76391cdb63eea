#include "table/pair_counts.hpp"

#include "table/one_dependence.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(pairs_are_those_of_a_plain_loop) {
  std::mt19937_64 random(5);
  for (const std::size_t rows : {0u, 1u, 7u, 4096u, 9001u})
    for (const std::size_t classes : {1u, 3u}) {
      const std::vector<std::size_t> sizes = {3, 0, 255, 2};
      std::vector<std::int16_t> matrix(rows * 4);
      for (std::int16_t& code : matrix) code = static_cast<std::int16_t>(static_cast<int>(random() % 300) - 20);
      for (std::size_t row = 0; row < rows; ++row) matrix[row * 4] %= 4;
      std::vector<Column> columns;
      for (std::size_t j = 0; j < 4; ++j) columns.push_back(column_of(matrix, 4, j));
      const auto labels = random_labels(random, rows, -1, static_cast<int>(classes));
      const PairLayout layout(sizes, classes, 1 << 20);
      const auto found = count_pairs(columns, column_of(labels), layout);
      CHECK(found.size() == layout.cells());
      std::vector<std::int64_t> expected;
      const auto code = [&](std::size_t row, std::size_t j) { return static_cast<int>(matrix[row * 4 + j]); };
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = i; j < 4; ++j)
          for (std::size_t c = 0; c < classes; ++c)
            for (int a = 0; a < static_cast<int>(sizes[i]); ++a)
              for (int b = 0; b < (i == j ? 1 : static_cast<int>(sizes[j])); ++b) {
                std::int64_t count = 0;
                for (std::size_t row = 0; row < rows; ++row)
                  count += labels[row] == static_cast<std::int32_t>(c) && code(row, i) == a &&
                           (i == j || code(row, j) == b);
                expected.push_back(count);
              }
      CHECK(found == expected);
    }
}

TEST(pairs_refuse_what_is_too_large) {
  bool refused = false;
  try {
    const PairLayout layout({256}, 1, 1 << 20);
  } catch (const std::length_error&) {
    refused = true;
  }
  CHECK(refused);
  refused = false;
  try {
    const PairLayout layout({200, 200}, 4, 100000);
  } catch (const std::length_error&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(one_dependence_is_the_mean_over_parents) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform(0.01, 1.0);
  for (const std::size_t classes : {2u, 3u, 4u, 7u}) {
    const std::vector<std::size_t> first = {0, 3, 5, 9};
    const std::size_t slots = 9, rows = 200;
    std::vector<double> log_class(classes), prior(slots * classes), naive(slots * classes), table(slots * slots * classes);
    for (std::vector<double>* each : {&log_class, &prior, &naive, &table})
      for (double& value : *each) value = std::log(uniform(random));
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t p = first[j]; p < first[j + 1]; ++p)
        for (std::size_t q = first[j]; q < first[j + 1]; ++q)
          for (std::size_t c = 0; c < classes; ++c) table[(p * slots + q) * classes + c] = 0;
    const std::vector<std::uint8_t> is_parent = {1, 0, 1, 1, 0, 1, 1, 0, 0};
    std::vector<std::int32_t> codes(rows * 3);
    for (std::int32_t& code : codes) code = static_cast<std::int32_t>(random() % 5) - 1;
    std::vector<Column> columns;
    for (std::size_t j = 0; j < 3; ++j) columns.push_back(column_of(codes, 3, j));
    OneDependence model;
    model.classes = classes;
    model.first_slot = first;
    model.log_class = log_class.data();
    model.prior = prior.data();
    model.naive = naive.data();
    model.table = table.data();
    model.is_parent = is_parent.data();
    std::vector<double> out(rows * classes);
    score_one_dependence(model, columns, rows, out.data());
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t c = 0; c < classes; ++c) {
        std::vector<std::size_t> present;
        for (std::size_t j = 0; j < 3; ++j) {
          const auto code = codes[row * 3 + j];
          if (code >= 0 && static_cast<std::size_t>(code) < first[j + 1] - first[j])
            present.push_back(first[j] + static_cast<std::size_t>(code));
        }
        double sum = 0, parents = 0, alone = std::exp(log_class[c]);
        for (const std::size_t q : present) alone *= std::exp(naive[q * classes + c]);
        for (const std::size_t p : present) {
          if (!is_parent[p]) continue;
          double product = std::exp(prior[p * classes + c]);
          for (const std::size_t q : present) product *= std::exp(table[(p * slots + q) * classes + c]);
          sum += product;
          ++parents;
        }
        const double expected = parents ? std::log(sum / parents) : std::log(alone);
        CHECK(std::abs(out[row * classes + c] - expected) < 1e-12 * std::max(1.0, std::abs(expected)));
      }
  }
}

}  // namespace
}  // namespace bayesbox::test
