// Counting of families, scores, the exact search and expected counts, beside the plainest way to each.
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "network/exact_search.hpp"
#include "network/expected_counts.hpp"
#include "network/family_counts.hpp"
#include "network/family_score.hpp"
#include "network/g_test.hpp"
#include "test.hpp"

using namespace bayesbox;

namespace {

struct Rows {
  std::vector<std::vector<std::uint8_t>> codes;
  std::vector<CodeColumn> columns;
  std::size_t rows = 0;
};

Rows random_rows(std::mt19937_64& random, std::size_t rows, const std::vector<std::int64_t>& sizes) {
  Rows made;
  made.rows = rows;
  for (const std::int64_t size : sizes) {
    auto& column = made.codes.emplace_back(rows);
    std::uniform_int_distribution<int> state(0, static_cast<int>(size) - 1);
    for (auto& code : column) code = static_cast<std::uint8_t>(state(random));
    if (made.codes.size() > 1)
      for (std::size_t i = 0; i < rows; i += 2) column[i] = static_cast<std::uint8_t>(made.codes[0][i] % size);
  }
  for (std::size_t j = 0; j < sizes.size(); ++j) made.columns.push_back({made.codes[j].data(), nullptr, sizes[j]});
  return made;
}

double plain_likelihood(const Rows& rows, std::size_t child, const std::vector<std::size_t>& parents) {
  std::map<std::vector<int>, double> joint, above;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    std::vector<int> key;
    for (const std::size_t p : parents) key.push_back(rows.codes[p][i]);
    ++above[key];
    key.push_back(rows.codes[child][i]);
    ++joint[key];
  }
  double sum = 0;
  for (const auto& [key, n] : joint) sum += n * std::log(n / above[{key.begin(), key.end() - 1}]);
  return sum;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); }

}  // namespace

TEST(family_counts_are_those_of_the_rows) {
  std::mt19937_64 random(1);
  const Rows rows = random_rows(random, 9001, {3, 2, 5, 40});
  const std::vector<Members> families = {{0}, {0, 1}, {0, 1, 2}, {0, 1, 3}, {3, 2}, {3, 2, 1, 0}};
  const auto tables = FamilyCounter(rows.columns, rows.rows).count(families);
  for (std::size_t f = 0; f < families.size(); ++f) {
    std::vector<std::uint32_t> expected(static_cast<std::size_t>(cells_of(rows.columns, families[f])), 0);
    for (std::size_t i = 0; i < rows.rows; ++i) {
      std::size_t place = 0;
      for (const auto member : families[f])
        place = place * static_cast<std::size_t>(rows.columns[member].size) + rows.codes[member][i];
      ++expected[place];
    }
    CHECK(tables[f] == expected);
  }
}

TEST(dense_and_sparse_scores_are_the_same) {
  std::mt19937_64 random(2);
  const Rows rows = random_rows(random, 500, {3, 2, 5});
  const auto table = FamilyCounter(rows.columns, rows.rows).count({{0, 1, 2}})[0];
  for (const ScoreKind kind : {ScoreKind::likelihood, ScoreKind::dirichlet, ScoreKind::bdeu}) {
    const FamilyScore score(kind, 0.7, 1.0, rows.rows);
    auto places = FamilyCounter(rows.columns, rows.rows).places({0, 1, 2});
    CHECK(near(score.dense(table.data(), 6, 5, 1), score.sparse(places, 6, 5)));
    auto turned = FamilyCounter(rows.columns, rows.rows).places({0, 2, 1});
    CHECK(near(score.dense(table.data(), 3, 2, 5), score.sparse(turned, 15, 2)));
  }
  const FamilyScore plain(ScoreKind::likelihood, 0, 1.0, rows.rows);
  CHECK(near(plain.dense(table.data(), 3, 2, 5), plain_likelihood(rows, 1, {0, 2})));
  const FamilyScore half(ScoreKind::likelihood, 0, 0.5, rows.rows);
  CHECK(near(half.dense(table.data(), 3, 2, 5), plain_likelihood(rows, 1, {0, 2}) / 2));
}

TEST(g_is_twice_the_gain) {
  std::mt19937_64 random(3);
  const Rows rows = random_rows(random, 300, {3, 4, 2});
  const auto table = FamilyCounter(rows.columns, rows.rows).count({{0, 1, 2}})[0];
  const GTest test = g_test(table.data(), 3, 4, 2);
  CHECK(near(test.statistic, 2 * (plain_likelihood(rows, 0, {1, 2}) - plain_likelihood(rows, 0, {2}))));
  CHECK(test.degrees == 12);
}

TEST(exact_search_is_the_best_of_all_structures_of_three) {
  std::mt19937_64 random(4);
  const Rows rows = random_rows(random, 60, {2, 3, 2});
  const double penalty = std::log(60.0) / 2;
  const auto total = [&](const std::vector<Bits>& parents) {
    double sum = 0;
    for (std::size_t v = 0; v < 3; ++v) {
      std::vector<std::size_t> above;
      double combinations = 1;
      for (std::size_t p = 0; p < 3; ++p)
        if (parents[v] >> p & 1) above.push_back(p), combinations *= static_cast<double>(rows.columns[p].size);
      sum += plain_likelihood(rows, v, above) - penalty * combinations * static_cast<double>(rows.columns[v].size - 1);
    }
    return sum;
  };
  double best = -1e300;
  for (Bits code = 0; code < 512; ++code) {
    const std::vector<Bits> parents = {code & 7, code >> 3 & 7, code >> 6 & 7};
    bool fine = true;
    for (std::size_t v = 0; v < 3; ++v) fine = fine && !(parents[v] >> v & 1);
    Bits left = 7;  // take away what has no parent left, until nothing goes
    for (int round = 0; round < 3; ++round)
      for (std::size_t v = 0; v < 3; ++v)
        if (!(parents[v] & left)) left &= ~(Bits{1} << v);
    if (fine && left == 0) best = std::max(best, total(parents));
  }
  ExactTask task;
  task.parameter = penalty;
  task.most_parents = 2;
  task.required.assign(3, 0);
  task.forbidden.assign(3, 0);
  CHECK(near(total(ExactSearch(rows.columns, rows.rows, task).best()), best));
  task.required = {2, 1, 0};  // a cycle
  CHECK(ExactSearch(rows.columns, rows.rows, task).best().empty());
}

TEST(expected_counts_sum_to_the_rows_and_holes_are_filled_by_their_distribution) {
  auto model = std::make_shared<FactorModel>();
  model->cards = {2, 2};
  model->offsets = {0, 2, 4};
  model->scopes = {{0}, {0, 1}};
  model->starts = {0, 2, 6};
  model->cells = {0.3, 0.7, 0.9, 0.1, 0.2, 0.8};
  model->prepare();
  const std::vector<char> none(2, 0), all(2, 1);
  const JunctionTree tree(model, none, all, 30);
  ExpectedCounts expected(tree);
  std::vector<double> counts(6, 0.0);
  const std::int32_t hole[] = {-1, 0}, whole[] = {1, 1}, empty[] = {-1, -1};
  const double p = 0.3 * 0.9 / (0.3 * 0.9 + 0.7 * 0.2);
  CHECK(near(expected.add(hole, 2.0, counts.data()), std::log(0.3 * 0.9 + 0.7 * 0.2)));
  CHECK(near(counts[0], 2 * p) && near(counts[1], 2 - 2 * p) && near(counts[2], 2 * p) && counts[3] == 0);
  CHECK(near(expected.add(whole, 1.0, counts.data()), std::log(0.7 * 0.8)));
  CHECK(near(counts[5], 1.0));
  CHECK(near(expected.add(empty, 1.0, counts.data()), 0.0));
  CHECK(near(counts[0] + counts[1], 4.0) && near(counts[2] + counts[3] + counts[4] + counts[5], 4.0));
  std::mt19937_64 random(5);
  double first = 0;
  for (int i = 0; i < 20000; ++i) {
    std::int32_t filled[2];
    CHECK(expected.fill(hole, filled, [&] { return std::uniform_real_distribution<double>()(random); }));
    CHECK(filled[1] == 0);
    first += filled[0] == 0;
  }
  CHECK(std::abs(first / 20000 - p) < 0.02);
}

TEST(holes_are_filled_where_only_cells_that_are_not_zero_are_held) {
  auto model = std::make_shared<FactorModel>();  // c is a + b
  model->cards = {3, 3, 5};
  model->offsets = {0, 3, 6, 11};
  model->scopes = {{0}, {1}, {0, 1, 2}};
  model->starts = {0, 3, 6, 51};
  model->cells = {0.2, 0.3, 0.5, 0.6, 0.3, 0.1};
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 5; ++c) model->cells.push_back(c == a + b);
  model->least_listed = 1;
  model->prepare();
  const JunctionTree tree(model, std::vector<char>(3, 0), std::vector<char>(3, 1), 30);
  CHECK(tree.plan().cliques.size() == 1 && tree.plan().cliques[0].guide == 2 && tree.plan().cells == 9);
  ExpectedCounts expected(tree);
  const std::int32_t hole[] = {-1, -1, 2};
  const double parts[] = {0.2 * 0.1, 0.3 * 0.3, 0.5 * 0.6}, total = parts[0] + parts[1] + parts[2];
  std::vector<double> counts(51, 0.0);
  CHECK(near(expected.add(hole, 1.0, counts.data()), std::log(total)));
  for (std::size_t a = 0; a < 3; ++a) CHECK(near(counts[a], parts[a] / total));
  std::mt19937_64 random(6);
  double share[3] = {0, 0, 0};
  for (int i = 0; i < 20000; ++i) {
    std::int32_t filled[3];
    CHECK(expected.fill(hole, filled, [&] { return std::uniform_real_distribution<double>()(random); }));
    CHECK(filled[0] + filled[1] == 2 && filled[2] == 2);
    share[filled[0]] += 1.0 / 20000;
  }
  for (std::size_t a = 0; a < 3; ++a) CHECK(std::abs(share[a] - parts[a] / total) < 0.02);
}
