// The canonical text of exact numbers: one line a cell, `0`, or sign, hex of the odd mantissa, `p`, decimal exponent.
// One number has one text, so texts are equal exactly where numbers are.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/exact_array.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

class ExactText {
 public:
  static std::string write(const ExactArray& array) {
    std::string text;
    text.reserve(array.size_ * 8);
    if (array.is_plain()) {
      write_whole_numbers(array, text);
      return text;
    }
    Magnitude number;
    for (std::size_t cell = 0; cell < array.size_; ++cell) {
      array.magnitude(cell, number);
      write_number(number, text);
      text.push_back('\n');
    }
    return text;
  }

  static ExactArray read(std::string_view text) {
    // First pass: the number of cells and the window, with every line checked before anything is allocated.
    std::size_t cells = 0;
    int low = 0, high = 1;
    for (const char *at = text.data(), *end = at + text.size(); at != end; ++cells) {
      const Line line = parse(at, end);
      if (line.digits == 0) continue;
      low = std::min(low, line.exponent >> 5);
      high = std::max(high, (line.exponent + 4 * line.digits + 31) / 32 + 1);
    }
    if (cells != 0 && static_cast<std::size_t>(high - low) > kMostLimbsRead / cells)
      throw std::invalid_argument("exact numbers: the text asks for too much memory");
    ExactArray result = ExactArray::with_window(cells, low, high - low);
    std::size_t cell = 0;
    for (const char *at = text.data(), *end = at + text.size(); at != end; ++cell) {
      poll_at(cell, 16);
      const Line line = parse(at, end);
      const char* digit = line.first;
      for (int left = line.digits; left > 0;) {
        const int count = (left - 1) % 16 + 1;
        std::uint64_t part = 0;
        for (int k = 0; k < count; ++k) part = part << 4 | digit_value(*digit++);
        left -= count;
        if (part != 0) result.add_bits(cell, part, line.exponent + 4 * left, line.negative);
      }
    }
    result.lazy_ = 1;  // the pieces of a number do not overlap, but two of them may share a limb
    return result;
  }

  static constexpr int kMostDigits = 2000;
  static constexpr int kMostExponent = 4000;
  static constexpr std::size_t kMostLimbsRead = std::size_t{1} << 28;

 private:
  struct Line {
    const char* first;
    int digits;  // 0 stands for the number zero
    int exponent;
    bool negative;
  };

  // Most counts are small, and their lines are kept.
  static void write_whole_numbers(const ExactArray& array, std::string& text) {
    static const std::array<std::string, 64> small = [] {
      std::array<std::string, 64> lines;
      for (std::size_t value = 0; value < lines.size(); ++value) {
        write_whole(static_cast<std::int64_t>(value), lines[value]);
        lines[value].push_back('\n');
      }
      return lines;
    }();
    for (std::size_t cell = 0; cell < array.size_; ++cell) {
      const std::int64_t value = array.limb_[cell];
      if (value >= 0 && value < static_cast<std::int64_t>(small.size())) {
        text += small[static_cast<std::size_t>(value)];
      } else {
        write_whole(value, text);
        text.push_back('\n');
      }
    }
  }

  // The same text as below, for a whole number of 64 bits.
  static void write_whole(std::int64_t value, std::string& text) {
    if (value == 0) {
      text.push_back('0');
      return;
    }
    char buffer[32];
    char* const end = buffer + sizeof buffer;
    char* at = end;
    const std::uint64_t size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const int exponent = std::countr_zero(size);
    *--at = static_cast<char>('0' + exponent % 10);
    if (exponent >= 10) *--at = static_cast<char>('0' + exponent / 10);
    *--at = 'p';
    for (std::uint64_t rest = size >> exponent; rest != 0; rest >>= 4) *--at = "0123456789abcdef"[rest & 15];
    if (value < 0) *--at = '-';
    text.append(at, static_cast<std::size_t>(end - at));
  }

  static void write_number(const Magnitude& number, std::string& text) {
    if (number.is_zero()) {
      text.push_back('0');
      return;
    }
    char buffer[32];
    if (number.negative) text.push_back('-');
    std::ptrdiff_t digits = (number.highest_bit - number.lowest_bit) / 4 + 1;
    while (digits > 0) {
      const int count = static_cast<int>((digits - 1) % 16) + 1;
      digits -= count;
      std::uint64_t part = number.bits(number.lowest_bit + 4 * digits, 4 * count);
      for (int k = count; k-- > 0; part >>= 4) buffer[k] = "0123456789abcdef"[part & 15];
      text.append(buffer, static_cast<std::size_t>(count));
    }
    char* end = buffer + sizeof buffer;
    char* at = end;
    const std::int64_t exponent = number.exponent();
    for (std::int64_t rest = exponent < 0 ? -exponent : exponent;;) {
      *--at = static_cast<char>('0' + rest % 10);
      rest /= 10;
      if (rest == 0) break;
    }
    if (exponent < 0) *--at = '-';
    *--at = 'p';
    text.append(at, static_cast<std::size_t>(end - at));
  }

  static int digit_value(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }
  static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
  static bool is_decimal(char c) { return c >= '0' && c <= '9'; }
  [[noreturn]] static void refuse(const char* reason) {
    throw std::invalid_argument(std::string("exact numbers: ") + reason);
  }

  // Reads one line and moves `at` behind its newline.
  static Line parse(const char*& at, const char* end) {
    Line line{at, 0, 0, false};
    if (end - at >= 2 && at[0] == '0' && at[1] == '\n') {
      at += 2;
      return line;
    }
    if (at != end && *at == '-') {
      line.negative = true;
      ++at;
    }
    line.first = at;
    while (at != end && is_hex(*at)) ++at;
    if (at == line.first) refuse("a line has no digits");
    if (at - line.first > kMostDigits) refuse("a number has too many digits");
    if (*line.first == '0') refuse("a number begins with 0");
    if (digit_value(at[-1]) % 2 == 0) refuse("a mantissa is even");
    line.digits = static_cast<int>(at - line.first);
    if (at == end || *at != 'p') refuse("a number has no exponent");
    ++at;
    const bool minus = at != end && *at == '-';
    if (minus) ++at;
    const char* start = at;
    int exponent = 0;
    while (at != end && is_decimal(*at) && at - start < 5) exponent = exponent * 10 + (*at++ - '0');
    if (at == start) refuse("an exponent has no digits");
    if (*start == '0' && (at - start > 1 || minus)) refuse("an exponent begins with 0");
    if (exponent > kMostExponent) refuse("an exponent is too large");
    if (at == end || *at != '\n') refuse("a line does not end after its exponent");
    ++at;
    line.exponent = minus ? -exponent : exponent;
    return line;
  }
};

}  // namespace bayesbox
