// Rows as delimited text: numbers with the shortest digits that round-trip, texts quoted if needed.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/column.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

// The digits of a double: written out from 1e-6 up to below 1e10, as 0.000001, 25 or 2.5, else as 1.5e-7.
inline void append_double(double value, std::string& to) {
  constexpr int kLeast = -6, kMost = 10;  // exponents of ten that are written out
  if (std::signbit(value) && !std::isnan(value)) to.push_back('-');
  if (!std::isfinite(value)) {
    to += std::isnan(value) ? "nan" : "inf";
    return;
  }
  char written[32];
  const auto end = std::to_chars(written, written + sizeof written, std::fabs(value), std::chars_format::scientific).ptr;
  const std::string_view text(written, static_cast<std::size_t>(end - written));
  const std::size_t mark = text.find('e');
  int exponent = 0;
  std::from_chars(written + mark + (text[mark + 1] == '+' ? 2 : 1), end, exponent);
  if (exponent < kLeast || exponent >= kMost) {
    to += text.substr(0, mark);
    to += exponent < 0 ? "e" : "e+";
    to += std::to_string(exponent);
    return;
  }
  const std::string_view first = text.substr(0, 1), rest = mark > 2 ? text.substr(2, mark - 2) : "";
  if (exponent < 0) {
    to += "0.";
    to.append(static_cast<std::size_t>(-exponent - 1), '0');
    to += first;
    to += rest;
    return;
  }
  const auto whole = static_cast<std::size_t>(exponent);  // of the rest
  to += first;
  to += rest.substr(0, whole);
  if (rest.size() < whole) to.append(whole - rest.size(), '0');
  if (rest.size() <= whole) return;
  to.push_back('.');
  to += rest.substr(whole);
}

// [+-]?(digits.?digits*|.digits)([eE][+-]?digits)?
inline bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto one_of = [&](std::string_view letters) {
    const bool found = at < text.size() && letters.find(text[at]) != letters.npos;
    at += found;
    return found;
  };
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - first;
  };
  one_of("+-");
  const std::size_t whole = digits();
  if (one_of(".") ? digits() + whole == 0 : whole == 0) return false;
  if (one_of("eE")) {
    one_of("+-");
    if (digits() == 0) return false;
  }
  return at == text.size();
}

// Whether a spreadsheet would run a text as a formula, also after tabs and line ends, which it drops; a single
// character or a number is not one.
inline bool is_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\t\r\n"), text.size()));
  return text.size() > 1 && std::string_view("=+-@").find(text[0]) != std::string_view::npos && text[1] != '\n' && !is_number(text);
}

// With `escape`, an apostrophe before a formula.
inline void append_text(std::string_view text, char delimiter, bool escape, std::string& to) {
  const std::string_view mark = escape && is_formula(text) ? "'" : "";
  const char needs[] = {'"', '\r', '\n', delimiter};
  if (text.find_first_of(std::string_view(needs, sizeof needs)) == std::string_view::npos) {
    to += mark;
    to += text;
    return;
  }
  to.push_back('"');
  to += mark;
  for (const char letter : text) {
    if (letter == '"') to.push_back('"');
    to.push_back(letter);
  }
  to.push_back('"');
}

// Where a block of 64 bytes has a letter: a bit each, the first byte lowest.
inline std::uint64_t places_of(char letter, const char* block) {
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(letter);
  std::uint64_t places = 0;
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * part));
    places |= static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted))) << (16 * part);
  }
  return places;
#else
  std::uint64_t places = 0;
  for (int i = 0; i < 64; ++i) places |= static_cast<std::uint64_t>(block[i] == letter) << i;
  return places;
#endif
}

// Whether every quote of whole blocks opens a field, closes it, or is one of a doubled pair: true for nearly all files.
// Quotes toggle between inside and outside of a field, so a running parity of their bits tells the one from the other.
inline bool quotes_only_enclose(std::string_view text, char delimiter) {
  std::uint64_t inside = 0;               // all ones where the block begins inside of a quoted field
  std::uint64_t ended = 1, closed = 0;    // whether the byte before the block ended a field, or closed a quote
  char last[64];
  for (std::size_t at = 0; at < text.size(); at += 64) {
    const char* block = text.data() + at;
    const std::size_t size = std::min<std::size_t>(64, text.size() - at);
    if (size < 64) {  // filled up with ends of lines
      std::fill(std::copy_n(block, size, last), last + 64, '\n');
      block = last;
    }
    const std::uint64_t quotes = places_of('"', block);
    if (quotes == 0 && !closed) {
      ended = block[63] == delimiter || block[63] == '\n' || block[63] == '\r';
      continue;
    }
    const std::uint64_t ends = places_of(delimiter, block) | places_of('\n', block) | places_of('\r', block);
    std::uint64_t within = quotes;
    for (int shift = 1; shift < 64; shift *= 2) within ^= within << shift;
    within ^= inside;
    const std::uint64_t opening = quotes & within, closing = quotes & ~within;
    const std::uint64_t behind_end = ends << 1 | ended, behind_closing = closing << 1 | closed;
    if ((opening & ~(behind_end | behind_closing)) | (behind_closing & ~(ends | quotes))) return false;
    inside = within >> 63 ? ~std::uint64_t{0} : 0;
    ended = ends >> 63;
    closed = closing >> 63;
  }
  return inside == 0;
}

// Whether every field that begins with a quote ends with one, and nothing is between that and the delimiter or the end of
// the line. A quote inside of a quoted field is doubled; one inside of any other field is text.
inline bool quotes_enclose_fields(std::string_view text, char delimiter) {
  if (quotes_only_enclose(text, delimiter)) return true;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto ends_a_field = [&](char letter) { return letter == delimiter || letter == '\n' || letter == '\r'; };
  while (true) {
    while (at < end && *at != '"') ++at;
    if (at == end) return true;
    const bool opens = at == text.data() || ends_a_field(at[-1]);
    ++at;
    if (!opens) continue;
    while (true) {
      while (at < end && *at != '"') ++at;
      if (at == end) return false;
      ++at;
      if (at == end || ends_a_field(*at)) break;
      if (*at != '"') return false;
      ++at;
    }
  }
}

struct TextColumn {
  const char* letters;
  std::vector<std::int64_t> offsets;

  std::string_view at(std::size_t row) const {
    return {letters + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
};

struct WrittenColumn {
  std::variant<Column, TextColumn> values;
  const std::uint8_t* present;  // a byte a row, or nothing where there are no holes
};

// A row is its cells with the delimiter between them and a new line behind; a hole is an empty cell. A row of one cell
// that is empty is a pair of quotes, as an empty line would be no row.
inline std::string delimited_lines(const std::vector<WrittenColumn>& columns, std::size_t rows, char delimiter, bool escape) {
  std::string lines;
  for (std::size_t row = 0; row < rows; ++row) {
    poll(16 * columns.size());
    const std::size_t begin = lines.size();
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (j > 0) lines.push_back(delimiter);
      const WrittenColumn& column = columns[j];
      if (column.present != nullptr && column.present[row] == 0) continue;
      if (const auto* texts = std::get_if<TextColumn>(&column.values)) {
        append_text(texts->at(row), delimiter, escape, lines);
        continue;
      }
      const Column& numbers = std::get<Column>(column.values);
      with_type(numbers.kind, [&]<class T>() {
        const T value = load<T>(numbers.at(row));
        if constexpr (std::is_floating_point_v<T>) {
          append_double(value, lines);
        } else {
          char written[24];
          lines.append(written, std::to_chars(written, written + sizeof written, value).ptr);
        }
      });
    }
    if (columns.size() == 1 && lines.size() == begin) lines += "\"\"";
    lines.push_back('\n');
  }
  return lines;
}

}  // namespace bayesbox
