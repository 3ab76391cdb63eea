#include "text/wide_texts.hpp"

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

}  // namespace
}  // namespace bayesbox::test
