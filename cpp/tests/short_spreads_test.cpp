// Means and deviations of short sums against those of wide integers.
#include "table/short_spreads.hpp"

#include <cmath>
#include <iterator>

#include "table/spreads.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

struct Expected {
  std::vector<Spread> spreads;
  double least = 0;
  bool known = true;
};

Expected by_wide_integers(const Moments& moments, const Floor& floor) {
  SpreadReader reader;
  Expected made;
  for (std::size_t c = 0; c < moments.n.size(); ++c) {
    const auto found = reader.read(moments.n, moments.total, moments.squares, c);
    made.known &= found.has_value();
    made.spreads.push_back(found.value_or(Spread{}));
  }
  const auto whole = reader.read(moments.n.sum_rows(1), moments.total.sum_rows(1), moments.squares.sum_rows(1), 0);
  const auto least = whole ? reader.least(floor) : std::nullopt;
  made.known &= whole.has_value() && least.has_value();
  made.spreads.push_back(whole.value_or(Spread{}));
  made.least = least.value_or(0);
  return made;
}

void add(Moments& moments, std::size_t label, double value) {
  moments.n.add_integer(label, 1);
  moments.total.add(label, value);
  moments.squares.add_product(label, value, value);
}

TEST(short_spreads_are_those_of_wide_integers) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const std::uint64_t words[] = {0, 1, 2, 3, 1'000'000'000, std::uint64_t{1} << 63, ~std::uint64_t{0}};
  std::size_t read = 0, refused = 0;
  ShortSpreads spreads;  // of them all: it keeps divisors
  for (int round = 0; round < 40'000; ++round) {
    const std::size_t classes = 1 + random() % 3;
    Moments moments(classes);
    const int scale = static_cast<int>(random() % 40) - 20, shape = static_cast<int>(random() % 6);
    const double shift = random() % 3 == 0 ? 0 : std::ldexp(normal(random), static_cast<int>(random() % 30));
    const int most = round % 50 == 0 ? 2'000 : 30;
    for (std::size_t c = 0; c < classes; ++c)
      for (auto left = random() % static_cast<unsigned>(most); left > 0; --left) {
        const double plain = normal(random);
        const double value = shape == 0   ? std::round(plain * 8)
                             : shape == 1 ? std::ldexp(std::round(plain * 100) / 100, scale)
                             : shape == 2 ? shift
                             : shape == 3 ? std::ldexp(plain, static_cast<int>(random() % 2000) - 1000)
                                          : std::ldexp(plain, scale) + shift;
        add(moments, c, value);
      }
    if (random() % 8 == 0 && classes > 1) {  // as after forgetting
      Moments less(classes);
      add(less, 0, shift);
      for (ExactArray Moments::* each : {&Moments::n, &Moments::total, &Moments::squares}) (moments.*each).merge(less.*each, nullptr, random() % 2 == 0 ? 1 : -1);
    }
    if (random() % 8 == 0) moments.n.add(0, random() % 2 == 0 ? 1.0 : 0.5);  // by another window, or half a row
    const Floor floor{words[random() % std::size(words)], std::max<std::uint64_t>(words[random() % std::size(words)], 1)};
    std::vector<Spread> found(classes + 1);
    double least = 0;
    if (!spreads.read(moments, floor, found.data(), least)) {
      ++refused;
      continue;
    }
    ++read;
    const Expected expected = by_wide_integers(moments, floor);
    CHECK(expected.known);
    CHECK(same(least, expected.least));
    for (std::size_t c = 0; c <= classes; ++c) {
      CHECK(same(found[c].n, expected.spreads[c].n));
      CHECK(same(found[c].mean, expected.spreads[c].mean));
      CHECK(same(found[c].mean_low, expected.spreads[c].mean_low));
      CHECK(same(found[c].unit, expected.spreads[c].unit));
    }
  }
  CHECK(read > 25'000 && refused > 5'000);
}

}  // namespace
}  // namespace bayesbox::test
