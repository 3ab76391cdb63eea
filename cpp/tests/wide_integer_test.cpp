// Division by a word through its reciprocal, against the division of the machine.
#include "core/wide_integer.hpp"

#include <iterator>

#include "test.hpp"

namespace bayesbox::test {
namespace {

std::uint64_t divided(std::vector<std::uint64_t>& words, std::uint64_t divisor) {
  uint128 rest = 0;
  for (std::size_t k = words.size(); k-- > 0;) {
    rest = rest << 64 | words[k];
    words[k] = static_cast<std::uint64_t>(rest / divisor);
    rest %= divisor;
  }
  return static_cast<std::uint64_t>(rest);
}

TEST(division_by_a_word) {
  std::mt19937_64 random(3);
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max(), half = std::uint64_t{1} << 63;
  const std::uint64_t edges[] = {1, 2, 3, 10, half - 1, half, half + 1, most - 1, most};
  const auto any = [&] { return random() % 3 == 0 ? edges[random() % std::size(edges)] : random() >> random() % 64; };
  for (int round = 0; round < 200'000; ++round) {
    const std::uint64_t divisor = std::max<std::uint64_t>(any(), 1);
    std::vector<std::uint64_t> words(random() % 5), expected;
    for (std::uint64_t& word : words) word = random() % 4 == 0 ? 0 : any();
    expected = words;
    const std::uint64_t rest = divided(expected, divisor);
    CHECK(WordDivisor(divisor).divide(words.data(), words.size()) == rest);
    CHECK(words == expected);
  }
}

TEST(roots_are_rounded_once) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t root = std::max<std::uint64_t>(random() >> 11 >> random() % 53, 1);  // a double
    const uint128 square = static_cast<uint128>(root) * root;
    const auto found = WideInteger::root<1>(WideInteger::of_word(square), {1}, 0);
    CHECK(found && *found == static_cast<double>(root));
    const auto above = WideInteger::root<1>(WideInteger::of_word(square + 1), {1}, 0);
    CHECK(above && *above >= static_cast<double>(root) && *above <= static_cast<double>(root) + 1);
  }
}

}  // namespace
}  // namespace bayesbox::test
