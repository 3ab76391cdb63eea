#include "core/exact_text.hpp"

#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(text_is_canonical_and_comes_back) {
  std::mt19937_64 random(5);
  ExactArray array(300);
  for (std::size_t cell = 0; cell < 300; ++cell)
    for (std::uint64_t k = random() % 4; k-- > 0;)
      array.add_product(cell, std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 900) - 450),
                        std::ldexp(-static_cast<double>(random() >> 40), static_cast<int>(random() % 900) - 450),
                        random() % 2 == 0 ? 1.0 : -0.3);
  const std::string text = ExactText::write(array);
  const ExactArray read = ExactText::read(text);
  CHECK(read == array);
  CHECK(ExactText::write(read) == text);
  ExactArray difference = read;
  difference.merge(array, nullptr, -1);
  CHECK(difference == ExactArray(300));
}

TEST(text_of_nothing) {
  CHECK(ExactText::write(ExactArray(0)).empty());
  CHECK(ExactText::read("").size() == 0);
  CHECK(ExactText::read("0\n").size() == 1);
}

TEST(limits_of_text_are_kept) {
  CHECK(ExactText::write(ExactText::read("1p4000\n-1p-4000\n")) == "1p4000\n-1p-4000\n");
  const std::string longest = std::string(2000, 'f') + "p-4000\n";
  CHECK(ExactText::write(ExactText::read(longest)) == longest);
  CHECK_THROWS(ExactText::read("f" + longest), std::invalid_argument);
}

TEST(other_text_is_refused) {
  for (const char* text : {"1", "1p0", "\n", "0", "00\n", "-0\n", "0p0\n", "2p0\n", "01p0\n", "1P0\n", "Ap0\n", "+1p0\n",
                           "1p+0\n", "1p-0\n", "1p00\n", "1p01\n", "1p\n", "1p-\n", "p0\n", "-p0\n", "1p4001\n",
                           "1p-4001\n", "1p99999\n", "1p999999999999\n", "1p0 \n", " 1p0\n", "1p0\r\n", "1p0\n\n", "1p0\n1",
                           "--1p0\n", "gp0\n", "0x1p0\n", "1.0p0\n", "1p0\n-"})
    CHECK_THROWS(ExactText::read(text), std::invalid_argument);
  CHECK_THROWS(ExactText::read(std::string_view("1p0\0\n", 5)), std::invalid_argument);
}

TEST(text_that_asks_for_too_much_memory_is_refused) {
  std::string text = "1p4000\n1p-4000\n";
  for (int i = 0; i < 1200000; ++i) text += "0\n";
  CHECK_THROWS(ExactText::read(text), std::invalid_argument);
}

}  // namespace
}  // namespace bayesbox::test
