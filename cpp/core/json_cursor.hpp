// A JSON parser for plain texts only: each function returns false for invalid input, and for input that needs the
// general parser (texts with escapes, numbers of more than 18 digits).
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "core/decimal.hpp"

namespace bayesbox {

struct JsonNumber {
  bool whole = false;  // written without a point and an exponent
  std::int64_t integer = 0;
  double value = 0;
};

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  // Peeks at the next character that is not a space; 0 at the end.
  char peek() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
    return at_ < end_ ? *at_ : '\0';
  }

  // Whether only spaces remain.
  bool is_done() {
    peek();
    return at_ == end_;
  }

  // Consumes the next character if it is this one.
  bool take(char letter) {
    if (peek() != letter || at_ == end_) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }

  // Consumes the next text if it is this one, which must not contain a quote, a backslash or a control character.
  bool take_text(std::string_view text) {
    if (static_cast<std::size_t>(end_ - at_) < text.size() + 2 || *at_ != '"' || at_[text.size() + 1] != '"') return false;
    if (std::memcmp(at_ + 1, text.data(), text.size()) != 0) return false;
    at_ += text.size() + 2;
    return true;
  }

  // A text without escapes. Its bytes beyond ASCII are not validated, since they are compared with known texts.
  bool text(std::string_view& found) {
    if (at_ == end_ || *at_ != '"') return false;
    const char* first = ++at_;
    for (; at_ < end_; ++at_) {
      const auto letter = static_cast<unsigned char>(*at_);
      if (letter == '"') {
        found = {first, static_cast<std::size_t>(at_ - first)};
        ++at_;
        return true;
      }
      if (letter == '\\' || letter < 0x20) return false;
    }
    return false;
  }

  bool number(JsonNumber& found) {
    const char* first = at_;
    const bool negative = at_ < end_ && *at_ == '-';
    if (negative) ++at_;
    const char* digits = at_;
    std::int64_t integer = 0;
    for (; is_digit(); ++at_)
      if (at_ - digits < kDigits) integer = integer * 10 + (*at_ - '0');
    const std::ptrdiff_t count = at_ - digits;
    if (count == 0 || (count > 1 && *digits == '0')) return false;
    found.whole = !(at_ < end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E'));
    if (found.whole) {
      if (count > kDigits) return false;
      found.integer = negative ? -integer : integer;
      found.value = static_cast<double>(found.integer);
      return true;
    }
    if (*at_ == '.') {
      ++at_;
      if (!take_digits()) return false;
    }
    if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!take_digits()) return false;
    }
    const auto read = read_decimal(first + (negative ? 1 : 0), at_, found.value);
    if (negative) found.value = -found.value;
    return read.ec == std::errc() && read.ptr == at_;
  }

 private:
  static constexpr std::ptrdiff_t kDigits = 18;  // that 64 bits hold, whatever they are

  bool is_digit() const { return at_ < end_ && *at_ >= '0' && *at_ <= '9'; }

  bool take_digits() {
    const char* first = at_;
    while (is_digit()) ++at_;
    return at_ > first;
  }

  const char* at_;
  const char* end_;
};

// A number as JSON: the shortest digits that round-trip, with a point or an exponent. It must be finite.
inline void append_json_number(std::string& out, double value) {
  char written[32];
  const char* end = std::to_chars(written, written + sizeof written, value).ptr;
  bool whole = true;
  for (const char* at = written; at < end; ++at) whole = whole && *at != '.' && *at != 'e';
  out.append(written, static_cast<std::size_t>(end - written));
  if (whole) out.append(".0", 2);
}

}  // namespace bayesbox
