#include "tree/boosting.hpp"

#include "test.hpp"

namespace bayesbox::test {
namespace {

struct Rows {
  std::vector<std::uint16_t> codes;  // a column of cells, and a category; some are missing
  std::vector<std::int32_t> target;
};

Rows drawn_rows(std::size_t count, std::size_t classes) {
  std::mt19937_64 random(11);
  Rows rows{std::vector<std::uint16_t>(2 * count), std::vector<std::int32_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    rows.codes[i] = static_cast<std::uint16_t>(random() % 40);
    rows.codes[count + i] = static_cast<std::uint16_t>(random() % 70);
    rows.target[i] = static_cast<std::int32_t>((rows.codes[i] / 10 + rows.codes[count + i] / 35) % classes);
    if (random() % 10 == 0) rows.codes[i] = kMissingCode;
    if (random() % 10 == 0) rows.codes[count + i] = kMissingCode;
  }
  return rows;
}

TEST(boosted_trees_lower_the_log_loss_round_by_round) {
  for (const std::size_t classes : {2u, 3u})
    for (const std::size_t count : {1u, 5u, 300u}) {
      const Rows drawn = drawn_rows(count, classes);
      const CodedColumns rows{drawn.codes.data(), count, 2};
      const std::vector<std::size_t> levels = {40, 70};
      const std::vector<std::uint8_t> ordered = {1, 0};
      const std::vector<double> start(classes, 0.0);
      BoostOptions options;
      options.rounds = 20;
      options.share = 1.0;
      Forest forest;
      std::vector<double> values;
      BoostGrower(rows, drawn.target.data(), classes, levels, ordered, start.data(), options).grow(forest, values);
      CHECK(forest.root.size() == 20);
      CHECK(values.size() == forest.nodes() * classes);
      std::vector<double> sum(count * classes, 0.0);
      const std::vector<double> losses =
          losses_by_round(forest, values.data(), rows, drawn.target.data(), classes, sum.data());
      double before = static_cast<double>(count) * std::log(static_cast<double>(classes));
      for (const double loss : losses) {
        CHECK(loss < before);
        before = loss;
      }
    }
}

}  // namespace
}  // namespace bayesbox::test
