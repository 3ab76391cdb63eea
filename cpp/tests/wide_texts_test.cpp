#include "text/wide_texts.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "test.hpp"

namespace bayesbox::test {
namespace {

std::vector<std::string> narrowed(const std::vector<std::uint32_t>& points, std::size_t width, std::int64_t step = 1) {
  Utf8Texts found;
  const auto stride = step * 4 * static_cast<std::int64_t>(width);
  if (!narrow_texts(reinterpret_cast<const char*>(points.data()), stride, points.size() / width / static_cast<std::size_t>(step), width, found))
    return {"refused"};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i + 1 < found.offsets.size(); ++i)
    texts.push_back(found.letters.substr(static_cast<std::size_t>(found.offsets[i]),
                                         static_cast<std::size_t>(found.offsets[i + 1] - found.offsets[i])));
  return texts;
}

TEST(texts_of_fixed_width_become_utf8) {
  using Texts = std::vector<std::string>;
  CHECK(narrowed({'s', 'u', 'v', 'a', 0, 0, 0, 0, 0}, 3) == (Texts{"suv", "a", ""}));
  CHECK(narrowed({'a', 0, 'b'}, 3) == (Texts{std::string("a\0b", 3)}));
  CHECK(narrowed({'a', 'b', 'x', 'x', 'c', 0, 'x', 'x'}, 2, 2) == (Texts{"ab", "c"}));
  CHECK(narrowed({0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}, 1) ==
        (Texts{"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
               "\xf4\x8f\xbf\xbf"}));
  for (const std::uint32_t wrong : {0xd800U, 0xdfffU, 0x110000U, 0xffffffffU}) CHECK(narrowed({'a', wrong}, 2) == Texts{"refused"});
  CHECK(narrowed({}, 1).empty());
}

TEST(texts_of_fixed_width_have_codes_in_the_order_in_which_they_come) {
  for (const std::size_t width : {1U, 2U, 3U, 8U}) {
    std::vector<std::uint32_t> points;
    std::map<std::vector<std::uint32_t>, std::int32_t> known;
    std::vector<std::int32_t> expected;
    std::vector<std::int64_t> first;
    std::mt19937_64 random(width);
    for (std::int64_t row = 0; row < 20000; ++row) {
      std::vector<std::uint32_t> text(width, 0);
      for (std::size_t i = 0; i < random() % (width + 1); ++i) text[i] = static_cast<std::uint32_t>('a' + random() % 3000);
      const auto [place, is_new] = known.emplace(text, static_cast<std::int32_t>(known.size()));
      if (is_new) first.push_back(row);
      expected.push_back(place->second);
      points.insert(points.end(), text.begin(), text.end());
      points.push_back(static_cast<std::uint32_t>(row));  // which is no part of a text
    }
    std::vector<std::int32_t> codes(expected.size());
    const auto found = code_wide_texts(reinterpret_cast<const char*>(points.data()), static_cast<std::int64_t>(4 * (width + 1)),
                                       codes.size(), width, codes.data());
    CHECK(codes == expected);
    CHECK(found == first);
  }
}

}  // namespace
}  // namespace bayesbox::test
