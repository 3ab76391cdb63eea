// Cells of delimited text: numbers that come back, quotes, and formulas.
#include "table/delimited_text.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "test.hpp"

namespace bayesbox::test {
namespace {

std::string written(double value) {
  std::string text;
  append_double(value, text);
  return text;
}
std::string cell(std::string_view text, bool escape) {
  std::string to;
  append_text(text, ',', escape, to);
  return to;
}

TEST(any_double_comes_back_from_its_digits) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, 8);
    if (!std::isfinite(value)) continue;
    if (i % 2) value = std::round(std::fmod(value, 1e6) * 1e3) / 1e3;
    if (!(std::strtod(written(value).c_str(), nullptr) == value)) CHECK(written(value) == "the same");
  }
  CHECK(written(0.0) == "0" && written(-0.0) == "-0" && written(2.5) == "2.5" && written(1e-6) == "0.000001");
  CHECK(written(1e-7) == "1e-7" && written(1e10) == "1e+10" && written(-1.5e300) == "-1.5e+300" && written(1200.0) == "1200");
  CHECK(written(-INFINITY) == "-inf" && written(std::nan("")) == "nan");
}

TEST(cells_are_quoted_where_they_must_and_formulas_are_text) {
  CHECK(cell("a b", true) == "a b" && cell("a,b", true) == "\"a,b\"" && cell("a\"b", true) == "\"a\"\"b\"" && cell("", true).empty());
  CHECK(cell("=1", true) == "'=1" && cell("=1", false) == "=1" && cell("-1", true) == "-1" && cell("-", true) == "-");
  CHECK(cell("-1,5", true) == "\"'-1,5\"" && cell("+.5e-3", true) == "+.5e-3" && cell("-.e1", true) == "'-.e1");
}

TEST(formulas_behind_tabs_and_line_ends_are_text) {
  CHECK(cell("\t=1", true) == "'\t=1" && cell("\r=1", true) == "\"'\r=1\"" && cell("\n@a", true) == "\"'\n@a\"");
  CHECK(cell("\t\r\n+a", true) == "\"'\t\r\n+a\"" && cell("\t=1", false) == "\t=1");
  CHECK(cell("\t-1", true) == "\t-1" && cell("\t", true) == "\t" && cell("\ta=1", true) == "\ta=1" && cell("\t-", true) == "\t-");
}

TEST(quotes_enclose_whole_fields) {
  for (const char* text : {"", "a,b\n", "\"a\",b\n", "\"a \"\"b\"\"\"\n", "\"a\nb\",c", "5\" disk,a \"b\" c\n", "\"\"", "x, \"y\"\r\n\"z\"\r\n"})
    if (!quotes_enclose_fields(text, ',')) CHECK(std::string(text) == "taken");
  for (const char* text : {"\"", "\"a", "a,\"b\n", "\"a\"b", "\"a\" ,b", "2,\"b,q\n3,\"c,p\n", "\"a\"\"", "5\" disk,\"a\"b"})
    if (quotes_enclose_fields(text, ',')) CHECK(std::string(text) == "refused");
  CHECK(quotes_enclose_fields("\"a\"\tb", '\t') && !quotes_enclose_fields("\"a\"\tb", ','));
}

// The same by states, a letter at a time.
bool enclosed_by_states(const std::string& text) {
  enum { kStart, kPlain, kQuoted, kClosed } state = kStart;
  for (const char letter : text) {
    const bool ends = letter == ',' || letter == '\n' || letter == '\r';
    if (state == kQuoted) {
      if (letter == '"') state = kClosed;
    } else if (state == kClosed) {
      if (!ends && letter != '"') return false;
      state = ends ? kStart : kQuoted;
    } else {
      state = ends ? kStart : state == kStart && letter == '"' ? kQuoted : kPlain;
    }
  }
  return state != kQuoted;
}

TEST(quotes_enclose_fields_across_blocks) {
  std::mt19937_64 random(7);
  int taken = 0, refused = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string text;
    const std::size_t size = random() % 200;
    while (text.size() < size) {
      const auto pick = random() % 100;
      if (pick < 40) {
        text += std::string(random() % 9, 'a') + (pick < 30 ? "," : "\n");
      } else if (pick < 97) {
        text += '"' + std::string(random() % 30, pick < 60 ? ',' : 'b') + (pick < 70 ? "\"\"\"," : "\",");
      } else {
        text += pick == 97 ? "\"" : "a\"";
      }
    }
    const bool expected = enclosed_by_states(text);
    (expected ? taken : refused) += 1;
    if (quotes_enclose_fields(text, ',') != expected) CHECK(text == (expected ? "taken" : "refused"));
  }
  CHECK(taken > 5000 && refused > 5000);
}

}  // namespace
}  // namespace bayesbox::test
