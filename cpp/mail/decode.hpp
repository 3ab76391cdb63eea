// Decoding of clean mail encodings: anything else is left to the full parser.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "text/tokens.hpp"

namespace bayesbox {

inline bool is_ascii(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + at, 8);
    if ((eight & 0x8080808080808080u) != 0) return false;
  }
  for (; at < text.size(); ++at)
    if ((static_cast<std::uint8_t>(text[at]) & 0x80) != 0) return false;
  return true;
}

inline bool is_utf8(std::string_view text) {
  if (is_ascii(text)) return true;
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at < end)
    if (next_code_point(at, end) == kBroken) return false;
  return true;
}

inline void append_code_point(std::uint32_t code_point, std::string& to) {
  std::uint8_t letters[4];
  to.append(reinterpret_cast<const char*>(letters), static_cast<std::size_t>(write_code_point(code_point, letters) - letters));
}

using CharacterTable = std::array<std::uint32_t, 256>;  // the code point of each byte

inline void append_by_table(std::string_view bytes, const CharacterTable& table, std::string& to) {
  for (const char byte : bytes) append_code_point(table[static_cast<std::uint8_t>(byte)], to);
}

inline int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// Quoted-printable; invalid quotes stay unchanged.
inline void append_quoted_printable(std::string_view text, std::string& to) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t mark = std::min(text.find('=', at), text.size());
    to.append(text, at, mark - at);
    at = mark + 1;
    if (at >= text.size()) return;
    if (text[at] == '\n' || text[at] == '\r') {
      const std::size_t line = text.find('\n', at);
      at = line == std::string_view::npos ? text.size() : line + 1;
    } else if (text[at] == '=') {
      to.push_back('=');
      ++at;
    } else if (at + 1 < text.size() && hex_digit(text[at]) >= 0 && hex_digit(text[at + 1]) >= 0) {
      to.push_back(static_cast<char>(hex_digit(text[at]) << 4 | hex_digit(text[at + 1])));
      at += 2;
    } else {
      to.push_back('=');
    }
  }
}

// Base64 in lines; false if it is not complete groups of its alphabet.
inline bool append_base64(std::string_view text, std::string& to) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const auto values = [] {
    std::array<std::int8_t, 256> table;
    table.fill(-1);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i)
      table[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::int8_t>(i);
    return table;
  }();
  std::uint32_t bits = 0;
  int digits = 0, padding = 0;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\r') continue;
    if (letter == '=') {
      if (digits < 2 || digits + ++padding > 4) return false;
      continue;
    }
    const int value = values[static_cast<std::uint8_t>(letter)];
    if (value < 0 || padding != 0) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++digits < 4) continue;
    for (const int shift : {16, 8, 0}) to.push_back(static_cast<char>(bits >> shift));
    bits = 0;
    digits = 0;
  }
  if (digits + padding != (digits == 0 ? 0 : 4)) return false;
  if (digits >= 2) to.push_back(static_cast<char>(bits >> (digits == 2 ? 4 : 10)));
  if (digits == 3) to.push_back(static_cast<char>(bits >> 2));
  return true;
}

}  // namespace bayesbox
