// What rows that come one at a time stand on: levels by their bytes, sums in two doubles, live counts, the compiled model.
#include <cmath>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/double_double.hpp"
#include "table/level_index.hpp"
#include "table/live_rows.hpp"
#include "table/scorer.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(levels_have_the_codes_of_their_order) {
  std::mt19937 random(3);
  LevelIndex index;
  std::unordered_map<std::string, std::int32_t> expected;
  CHECK(index.find("nothing") == LevelIndex::kNone);
  for (int step = 0; step < 20000; ++step) {
    std::string text(random() % 12, '\0');
    for (char& letter : text) letter = static_cast<char>(random() % 3);
    const auto known = expected.find(text);
    CHECK(index.find(text) == (known == expected.end() ? LevelIndex::kNone : known->second));
    if (random() % 2 == 0) continue;
    const std::int32_t code = index.add(text);
    CHECK(code == expected.emplace(text, static_cast<std::int32_t>(expected.size())).first->second);
    CHECK(index.level(static_cast<std::size_t>(code)) == text);
  }
  CHECK(index.size() == expected.size());
}

TEST(sums_in_two_doubles_keep_what_one_would_lose) {
  DoubleDouble sum{1e16, 0};
  for (int k = 0; k < 1000; ++k) sum = sum + DoubleDouble{0.1, 0};
  const DoubleDouble left = sum - DoubleDouble{1e16, 0};
  CHECK(std::fabs(left.high - 100.00000000000000555) < 1e-13);
  const DoubleDouble square = DoubleDouble{1.0 + 0x1p-40, 0} * DoubleDouble{1.0 + 0x1p-40, 0};
  CHECK((square - DoubleDouble{1.0 + 0x1p-39, 0}).high == 0x1p-80);
  CHECK(std::fabs(DoubleDouble{1, 0}.over(3).low * 0x1p54 - 1.0 / 3) < 0.4);
}

TEST(live_counts_answer_by_the_counts) {
  LiveColumn levels;
  levels.kind = LiveKind::levels;
  levels.counts.totals.resize(2);
  std::vector<LiveColumn> columns;
  columns.push_back(std::move(levels));
  LiveRows rows(std::move(columns), 2);
  rows.go_live({0, 0});
  double sums[2];
  CHECK(!rows.joint(sums));  // no row yet
  const auto learn = [&](std::int32_t code, std::size_t label) {
    rows.row()[0].code = code;
    rows.learn(label);
  };
  learn(0, 0), learn(0, 0), learn(1, 0), learn(1, 1);
  rows.row()[0].code = 1;
  CHECK(rows.joint(sums));
  CHECK(std::fabs(sums[0] - std::log(3.0 / 4 * (1 + 1) / (3 + 2))) < 1e-15);
  CHECK(std::fabs(sums[1] - std::log(1.0 / 4 * (1 + 1) / (1 + 2))) < 1e-15);
  rows.row()[0].code = kUnseenCode;
  CHECK(rows.joint(sums) && std::fabs(sums[0] - std::log(0.75)) < 1e-15);
  CHECK(rows.waiting() == 4);
  rows.clear();
  CHECK(rows.waiting() == 0 && rows.is_live());
}

TEST(a_compiled_model_answers_rows_in_any_place_alike) {
  ScorerInput number, flag;
  number.gaussian = {0, 0, 1, 0, 2, 0, 3, -std::log(3.0)};
  flag.kind = InputKind::flag;
  flag.table_rows = 4;
  flag.table = {-1, -2, -0.5, -0.25, 0, 0, 0, 0};
  std::vector<ScorerInput> inputs;
  inputs.push_back(number), inputs.push_back(flag);
  Scorer scorer({std::log(0.25), std::log(0.75)}, std::move(inputs), false, {});
  const Scorer::Lease space(scorer);
  double one[2], many[2 * 9];
  space->set_number(0, 0, 1.5);
  space->set_code(1, 0, 1);
  CHECK(space->answer(1, false, one));
  const double a = 0.25 * std::exp(-1.125 - 0.5), b = 0.75 / 3 * std::exp(-0.25 / 18 - 0.25);
  CHECK(std::fabs(one[0] - a / (a + b)) < 1e-15 && std::fabs(one[1] - b / (a + b)) < 1e-15);
  for (std::size_t row = 0; row < 9; ++row) {
    space->set_number(0, row, 1.5);
    space->set_code(1, row, 1);
  }
  CHECK(space->answer(9, false, many));
  for (std::size_t row = 0; row < 9; ++row) CHECK(many[2 * row] == one[0] && many[2 * row + 1] == one[1]);
  std::int32_t best = 7;
  space->set_missing(0, 0), space->set_missing(1, 0);
  CHECK(space->best(1, &best) && best == 1);
}

}  // namespace
}  // namespace bayesbox::test
