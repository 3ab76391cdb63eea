// HTML pages as text: tags and comments become spaces, scripts and styles are dropped, references are resolved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mail/decode.hpp"

namespace bayesbox {

inline char lower_ascii(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; }
inline bool is_letter(char letter) { return lower_ascii(letter) >= 'a' && lower_ascii(letter) <= 'z'; }
inline bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Whether the text has `lowered`, which is in lower case, at this place, in any case.
inline bool has_at(std::string_view text, std::size_t at, std::string_view lowered) {
  if (text.size() - at < lowered.size()) return false;
  for (std::size_t i = 0; i < lowered.size(); ++i)
    if (lower_ascii(text[at + i]) != lowered[i]) return false;
  return true;
}

class Markup {
 public:
  // The names are those of the standard, with their semicolons where they need one; the texts are UTF-8.
  void name(std::string_view name, std::string_view text) {
    names_.emplace(name, text);
    longest_ = std::max(longest_, name.size());
  }

  // Every search continues where the last one ended, so that the time is linear in the length of a page.
  void append_text(std::string_view page, std::string& to) {
    stripped_.clear();
    std::size_t place = 0;
    for (std::size_t start; (start = page.find('<', place)) != std::string_view::npos;) {
      stripped_.append(page, place, start - place);
      place = end_of_markup(page, start);
      stripped_.push_back(place == start ? '<' : ' ');
      if (place == start) ++place;
    }
    stripped_.append(page, place);
    append_resolved(stripped_, to);
  }

 private:
  static std::size_t after(std::string_view text, std::string_view mark, std::size_t start) {
    const std::size_t found = text.find(mark, start);
    return found == std::string_view::npos ? text.size() : found + mark.size();
  }

  // Where the tag, comment or hidden element that begins at `start` ends; `start` where it is no markup.
  static std::size_t end_of_markup(std::string_view text, std::size_t start) {
    if (has_at(text, start, "<!--")) return after(text, "-->", start + 4);
    const char following = start + 1 < text.size() ? text[start + 1] : ' ';
    if (!is_letter(following) && following != '/' && following != '!' && following != '?') return start;
    for (const std::string_view closing : {"</script", "</style"}) {
      const std::string_view name = closing.substr(2);
      const std::size_t end = start + 1 + name.size();
      if (!has_at(text, start + 1, name) || (end < text.size() && (is_letter(text[end]) || is_digit(text[end])))) continue;
      for (std::size_t at = start; (at = text.find("</", at)) != std::string_view::npos; ++at)
        if (has_at(text, at, closing)) return after(text, ">", at);
      return text.size();
    }
    return after(text, ">", start);
  }

  // References such as &amp; and &#233; become what they stand for, as the standard of HTML reads them.
  void append_resolved(std::string_view text, std::string& to) const {
    std::size_t place = 0;
    for (std::size_t start; (start = text.find('&', place)) != std::string_view::npos;) {
      to.append(text, place, start - place);
      place = append_reference(text, start + 1, to);
    }
    to.append(text, place);
  }

  std::size_t append_reference(std::string_view text, std::size_t at, std::string& to) const {
    if (at < text.size() && text[at] == '#') {
      const bool is_hex = at + 1 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'X');
      const std::size_t first = at + (is_hex ? 2 : 1);
      std::size_t end = first;
      std::uint32_t number = 0;
      for (; end < text.size() && (is_hex ? hex_digit(text[end]) >= 0 : is_digit(text[end])); ++end)
        number = std::min<std::uint32_t>(number * (is_hex ? 16u : 10u) + static_cast<std::uint32_t>(hex_digit(text[end])), kCodePoints);
      if (end > first) {
        append_number(number, to);
        return end < text.size() && text[end] == ';' ? end + 1 : end;
      }
    } else {
      std::size_t end = at;
      while (end < text.size() && end - at < longest_ && (is_letter(text[end]) || is_digit(text[end]))) ++end;
      if (end < text.size() && text[end] == ';') ++end;
      for (; end > at + 1; --end) {  // the longest name
        const auto found = names_.find(std::string(text.substr(at, end - at)));
        if (found == names_.end()) continue;
        to += found->second;
        return end;
      }
    }
    to.push_back('&');
    return at;
  }

  static void append_number(std::uint32_t number, std::string& to) {
    static constexpr std::uint16_t kWindows[32] = {
        0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
    if (number == 0 || number >= kCodePoints || (number >= 0xD800 && number <= 0xDFFF)) {
      append_code_point(0xFFFD, to);
    } else if (number >= 0x80 && number <= 0x9F) {
      append_code_point(kWindows[number - 0x80], to);
    } else if ((number < 0x20 && number != '\t' && number != '\n' && number != '\f' && number != '\r') || number == 0x7F ||
               (number >= 0xFDD0 && number <= 0xFDEF) || (number & 0xFFFE) == 0xFFFE) {
      return;  // not a character
    } else {
      append_code_point(number, to);
    }
  }

  std::unordered_map<std::string, std::string> names_;
  std::size_t longest_ = 0;
  std::string stripped_;
};

}  // namespace bayesbox
