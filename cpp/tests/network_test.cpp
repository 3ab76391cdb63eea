#include "network/bif.hpp"
#include "network/junction.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "core/decimal.hpp"
#include "network/parse_numbers.hpp"
#include "network/possible_states.hpp"
#include "network_models.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(junction_tree_is_the_sum_over_all_states) {
  std::mt19937_64 random(11);
  JunctionTree::Scratch scratch;  // one for all, as a model keeps one for its trees
  std::size_t guided = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto model = random_model(random, round % 2 ? 1 : 8);
    const std::size_t variables = model->cards.size();
    std::vector<char> observed(variables), soft(variables);
    std::vector<std::int32_t> states(variables);
    std::vector<double> likelihoods(static_cast<std::size_t>(model->offsets.back()));
    for (double& each : likelihoods) each = std::uniform_real_distribution<double>(0, 1)(random);
    for (std::size_t v = 0; v < variables; ++v) {
      observed[v] = random() % 3 == 0;
      soft[v] = random() % 4 == 0;
    }
    const JunctionTree tree(model, observed, soft, 30);
    for (const Clique& clique : tree.plan().cliques) guided += clique.guide >= 0;
    tree.prepare(scratch);
    for (int repeat = 0; repeat < 2; ++repeat) {  // a second run with other states of the same variables
      for (std::size_t v = 0; v < variables; ++v)
        states[v] = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(model->cards[v]));
      std::vector<double> expected, found(likelihoods.size());
      const double total = enumerate(*model, observed, states, soft, likelihoods, expected);
      const double log_total = tree.run(states.data(), likelihoods.data(), found.data(), scratch);
      if (total == 0) {
        CHECK(std::isinf(log_total));
        continue;
      }
      CHECK(std::fabs(log_total - std::log(total)) < 1e-12);
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] - expected[i] / total) < 1e-12);
      const bool fast = avx2_is_on();
      use_avx2(false);
      std::vector<double> plain(found.size());
      CHECK(tree.run(states.data(), likelihoods.data(), plain.data(), scratch) == log_total);
      CHECK(std::memcmp(plain.data(), found.data(), found.size() * sizeof(double)) == 0);
      use_avx2(fast);
    }
  }
  CHECK(guided > 100);  // tables of which only what is not zero is held
}

TEST(messages_by_way_of_larger_ones) {
  // Four variables together; below them x by three of these, y by two and z by one. What is known of x and of y varies.
  const std::vector<Scope> scopes = {{0, 1, 2, 3}, {0, 1, 2, 4}, {4, 5}, {0, 1, 6}, {6, 7}, {1, 8}};
  std::mt19937_64 random(14);
  JunctionTree::Scratch scratch;
  std::size_t settled = 0, changing = 0;
  for (int round = 0; round < 200; ++round) {
    auto model = std::make_shared<FactorModel>();
    model->cards = {2, 2, 2, 3, 2, 2, 2, 2, 2};
    model->offsets = {0, 2, 4, 6, 9, 11, 13, 15, 17, 19};
    model->scopes = scopes;
    model->starts = {0};
    const double least = round % 2 ? 0.01 : 1e-200;  // some products must be watched
    for (const Scope& scope : scopes) {
      std::int64_t cells = 1;
      for (const std::int32_t v : scope) cells *= model->cards[static_cast<std::size_t>(v)];
      for (std::int64_t i = 0; i < cells; ++i)
        model->cells.push_back(random() % 8 == 0 ? least : std::uniform_real_distribution<double>(0.01, 2)(random));
      model->starts.push_back(static_cast<std::int64_t>(model->cells.size()));
    }
    model->least_hosted = 1;
    model->most_at_once = 1 + static_cast<std::int64_t>(random() % 30);
    model->prepare();
    std::vector<char> observed(9, 0), soft(9, 0);
    observed[5] = 1;
    observed[7] = random() % 2;
    const JunctionTree tree(model, observed, soft, 30);
    for (const Clique& clique : tree.plan().cliques) (clique.settled ? settled : changing) += clique.host >= 0;
    tree.prepare(scratch);
    std::vector<std::int32_t> states(9, 0);
    states[5] = static_cast<std::int32_t>(random() % 2);
    states[7] = static_cast<std::int32_t>(random() % 2);
    std::vector<double> expected, found(19);
    const double total = enumerate(*model, observed, states, soft, {}, expected);
    CHECK(std::fabs(tree.run(states.data(), nullptr, found.data(), scratch) - std::log(total)) < 1e-12);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] - expected[i] / total) < 1e-12);
  }
  CHECK(settled > 100 && changing > 50);
}

TEST(four_at_once_are_one_by_one) {
  std::mt19937_64 random(13);
  const auto numbers = [&](std::int64_t count) {
    std::vector<double> made(static_cast<std::size_t>(count));
    for (double& each : made) each = random() % 4 == 0 ? 0.0 : std::uniform_real_distribution<double>(0, 1)(random);
    return made;
  };
  for (std::int64_t count = 0; count < 70; ++count) {
    const std::vector<double> a = numbers(count), b = numbers(count);
    std::vector<double> scaled(a.size()), products(a.size()), ratios(a.size()), sums = b;
    scale(scaled.data(), a.data(), 0.3, count);
    multiply(products.data(), a.data(), b.data(), count);
    divide(ratios.data(), a.data(), b.data(), count);
    add(sums.data(), a.data(), count);
    double total = 0, most = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(scaled[i] == a[i] * 0.3 && products[i] == a[i] * b[i] && sums[i] == b[i] + a[i]);
      CHECK(ratios[i] == (b[i] > 0 ? a[i] / b[i] : 0.0));
      total += a[i];
      most = std::max(most, a[i]);
      if (a[i] > 0) least = std::min(least, a[i]);
    }
    CHECK(std::fabs(total_of(a.data(), count) - total) < 1e-14 * (1 + total));
    const Extent extent = Extent::of(a.data(), count);
    CHECK(extent.least == least && extent.most == most);
  }
}

TEST(states_that_occur_are_possible) {
  std::mt19937_64 random(12);
  std::size_t ruled_out = 0;
  for (int round = 0; round < 500; ++round) {
    const auto model = random_model(random, 5);
    const std::vector<char> none(model->cards.size(), 0);
    std::vector<double> sums;
    enumerate(*model, none, std::vector<std::int32_t>(none.size(), 0), none, {}, sums);
    const std::vector<std::uint8_t> possible = PossibleStates(*model).found();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      CHECK(possible[i] || sums[i] == 0);
      ruled_out += !possible[i];
    }
  }
  CHECK(ruled_out > 100);
}

TEST(junction_tree_over_the_limit_is_not_made) {
  auto model = std::make_shared<FactorModel>();
  model->cards.assign(70, 3);
  for (std::int64_t v = 0; v <= 70; ++v) model->offsets.push_back(3 * v);
  model->starts.push_back(0);
  for (std::int32_t a = 0; a < 70; ++a)
    for (std::int32_t b = 0; b < a; ++b) {
      model->scopes.push_back({a, b});
      model->cells.insert(model->cells.end(), 9, 1.0);
      model->starts.push_back(static_cast<std::int64_t>(model->cells.size()));
    }
  model->prepare();
  const std::vector<char> none(70, 0);
  CHECK(JunctionTree(model, none, none, 28).log2_cells() > 100);
}

BifFile read(const std::string& text) { return BifReader(text, BifLimits{100, 1000, 1e-6, false}).read(); }

#if !defined(_WIN32)
TEST(decimals_are_those_of_strtod) {
  for (const char* text : {"1.5", "-.5e1x", "1.", "1e400", "1e-400", "5e-324", "2e-324", "-0", "0e-999", "1e+", "0x10", ".", "-", "",
                           "+1", " 1", "1.7976931348623157e308", "9007199254740993", "123456789012345678901234567890"}) {
    double expected = -1, found = -1;
    const char* const end = text + std::strlen(text);
    const auto theirs = any_decimal(text, end, expected);
    const auto ours = decimal_by_strtod(text, end, found);
    CHECK(ours.ec == theirs.ec && ours.ptr == theirs.ptr);
    CHECK(std::memcmp(&found, &expected, sizeof found) == 0);
  }
}
#endif

TEST(decimals_are_those_of_from_chars) {
  std::mt19937_64 random(31);
  const char alphabet[] = "0123456789012345678901234567890123456789..e-+";
  for (int round = 0; round < 200000; ++round) {
    std::string text;
    for (std::size_t length = random() % 20; length > 0; --length) text += alphabet[random() % (sizeof alphabet - 1)];
    double expected = -1, found = -1;
    const auto theirs = any_decimal(text.data(), text.data() + text.size(), expected);
    const auto ours = read_decimal(text.data(), text.data() + text.size(), found);
    CHECK(ours.ec == theirs.ec && ours.ptr == theirs.ptr);
    CHECK(std::memcmp(&found, &expected, sizeof found) == 0);
  }
}

TEST(numbers_stop_before_anything_else) {
  const std::string text = " (1 2.5)\n-3e1;";
  const NumberRun all = read_numbers(text, 0, 9, "()");
  CHECK((all.values == std::vector<double>{1, 2.5, -30}) && all.end == text.size() - 1);
  CHECK(read_numbers(text, 0, 2, "()").end == 7);
  CHECK(read_numbers("1 0x2", 0, 9, "").end == 1);
  CHECK(read_numbers("1e999", 0, 9, "").values.empty());
  CHECK(read_numbers("inf nan -", 0, 9, "").values.empty());
}

TEST(bif_cut_anywhere_is_refused_or_whole) {
  const std::string text =
      "network n { property \"p\" ; }\nvariable a { type discrete [ 2 ] { <5, \"x y\" }; }\n"
      "variable b { type discrete [ 2 ] { t, f }; } // end\n"
      "probability ( a ) { table 0.25, 7.5e-1; }\nprobability ( b | a ) { (<5) 1, 0; default .5 .5; }";
  const BifFile file = read(text);
  CHECK(file.variables[0].states[1] == "x y");
  CHECK((file.variables[1].table == std::vector<double>{1, 0, 0.5, 0.5}));
  for (std::size_t length = 0; length + 1 < text.size(); ++length) CHECK_THROWS(read(text.substr(0, length)), TextFault);
  std::mt19937_64 random(12);
  for (int round = 0; round < 20000; ++round) {  // any other byte anywhere: read or refused, never worse
    std::string changed = text;
    changed[random() % changed.size()] = static_cast<char>(random() % 256);
    try {
      read(changed);
    } catch (const TextFault&) {
    }
  }
}

}  // namespace
}  // namespace bayesbox::test
