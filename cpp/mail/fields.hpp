// The header of a message, line by line, and its fields: encoded words, and values with parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mail/decode.hpp"
#include "mail/markup.hpp"

namespace bayesbox {

inline std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = lower_ascii(letter);
  return result;
}

// Bytes in a named encoding as UTF-8: by a table for those of one byte a character; UTF-8 as it is.
class Charsets {
 public:
  void add(std::string_view name, const CharacterTable& table) { tables_.emplace(name, table); }
  // A name for UTF-8 itself.
  void add_utf8(std::string_view name) { utf8_.emplace(name, true); }

  // False if the encoding is unknown here or the bytes are invalid in it.
  bool append(std::string_view bytes, const std::string& charset, std::string& to) const {
    if (utf8_.count(charset) != 0) {
      if (!is_utf8(bytes)) return false;
      to += bytes;
      return true;
    }
    const auto found = tables_.find(charset);
    if (found == tables_.end()) return false;
    append_by_table(bytes, found->second, to);
    return true;
  }

  // Bytes without a declared encoding: UTF-8 if valid, else Latin-1. False if they begin with a byte order
  // mark.
  static bool append_unnamed(std::string_view bytes, std::string& to) {
    for (const std::string_view mark : {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"})
      if (bytes.substr(0, mark.size()) == mark) return false;
    if (is_utf8(bytes)) {
      to += bytes;
    } else {
      for (const char byte : bytes) append_code_point(static_cast<std::uint8_t>(byte), to);
    }
    return true;
  }

 private:
  std::unordered_map<std::string, CharacterTable> tables_;
  std::unordered_map<std::string, bool> utf8_;
};

struct Field {
  std::string_view name, value;  // the value with its folds, without the end of its last line
};

// Reads the fields of a head; the place where the body begins, npos where the head is not as the rules have it.
inline std::size_t read_head(std::string_view raw, std::vector<Field>& fields) {
  constexpr std::size_t none = std::string_view::npos;
  fields.clear();
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == '\n') return at + 1;
    if (raw[at] == '\r') return at + 1 < raw.size() && raw[at + 1] == '\n' ? at + 2 : none;
    const std::size_t end = raw.find('\n', at);
    if (end == none) return none;
    const std::size_t text_end = raw[end - 1] == '\r' ? end - 1 : end;
    if (raw.substr(at, text_end - at).find('\r') != none) return none;
    if (raw[at] == ' ' || raw[at] == '\t') {
      if (!fields.empty()) {  // the first line may be the rest of one that was cut off
        const char* const begin = fields.back().value.data();
        fields.back().value = {begin, static_cast<std::size_t>(raw.data() + text_end - begin)};
      }
    } else {
      std::size_t colon = at;
      while (raw[colon] > ' ' && raw[colon] < 127 && raw[colon] != ':') ++colon;
      if (raw[colon] != ':' || colon == at) return none;
      fields.push_back({raw.substr(at, colon - at), raw.substr(colon + 1, text_end - colon - 1)});
    }
    at = end + 1;
  }
  return none;
}

// Whether a code point is white space to Python, whose full parser is what these readers agree with.
inline bool is_space(std::uint32_t code_point) {
  return (code_point >= 9 && code_point <= 13) || (code_point >= 28 && code_point <= 32) || code_point == 0x85 ||
         code_point == 0xA0 || code_point == 0x1680 || (code_point >= 0x2000 && code_point <= 0x200A) ||
         code_point == 0x2028 || code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F || code_point == 0x3000;
}

// UTF-8 text with runs of spaces collapsed, and trimmed.
inline void append_collapsed(std::string_view text, std::string& to) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto* const end = at + text.size();
  bool begun = false, space = false;
  while (at < end) {
    const auto* const before = at;
    const std::uint32_t code_point = next_code_point(at, end);
    if (is_space(code_point)) {
      space = begun;
      continue;
    }
    if (space) to.push_back(' ');
    to.append(reinterpret_cast<const char*>(before), static_cast<std::size_t>(at - before));
    begun = true;
    space = false;
  }
}

// The value of a field as text, its encoded words decoded; bytes beyond ASCII are as in a text of which nothing is said.
// False where there are both, or words that are not clean.
class FieldText {
 public:
  bool append(std::string_view value, const Charsets& charsets, std::string& to) {
    const bool plain = value.find("=?") == std::string_view::npos;
    if (plain && is_ascii(value)) {
      append_collapsed(value, to);
      return true;
    }
    if (plain) {
      text_.clear();
      value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
      if (!Charsets::append_unnamed(value, text_)) return false;
      append_collapsed(text_, to);
      return true;
    }
    if (!is_ascii(value)) return false;
    if (!read(value)) return false;
    text_.clear();
    for (std::size_t i = 0; i < words_.size();) {
      bytes_.clear();
      const std::string& charset = words_[i].charset;
      bool first = true;
      for (; i < words_.size() && words_[i].charset == charset; ++i, first = false) {
        if (charset.empty() && !first) bytes_.push_back(' ');
        bytes_ += words_[i].bytes;
      }
      if (!text_.empty()) text_.push_back(' ');
      if (charset.empty()) text_ += bytes_;
      else if (!charsets.append(bytes_, charset, text_)) return false;
    }
    append_collapsed(text_, to);
    return true;
  }

 private:
  struct Word {
    std::string bytes, charset;  // no charset: a piece that is not encoded
  };

  // Line by line: plain pieces and encoded words; spaces between two encoded words are dropped.
  bool read(std::string_view value) {
    words_.clear();
    while (!value.empty()) {
      const std::size_t end = std::min(value.find('\n'), value.size());
      std::string_view line = value.substr(0, end > 0 && value[end - 1] == '\r' ? end - 1 : end);
      value.remove_prefix(std::min(end + 1, value.size()));
      for (const unsigned char letter : line)
        if ((letter < ' ' && letter != '\t') || letter == 127) return false;
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      while (!line.empty()) {
        const std::size_t mark = std::min(line.find("=?"), line.size());
        if (mark > 0) words_.push_back({std::string(line.substr(0, mark)), ""});
        line.remove_prefix(mark);
        if (!line.empty() && !read_word(line)) return false;
      }
    }
    for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
      const bool blank = words_[i].charset.empty() && words_[i].bytes.find_first_not_of(" \t") == std::string::npos;
      if (blank && !words_[i - 1].charset.empty() && !words_[i + 1].charset.empty())
        words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return true;
  }

  // =?charset?q?text?= or =?charset?b?text?=
  bool read_word(std::string_view& line) {
    constexpr std::size_t none = std::string_view::npos;
    const std::size_t charset_end = line.find('?', 2);
    if (charset_end == none || charset_end == 2 || charset_end + 2 >= line.size() || line[charset_end + 2] != '?') return false;
    const char encoding = lower_ascii(line[charset_end + 1]);
    const std::size_t begin = charset_end + 3, end = line.find('?', begin);
    if (end == none || end + 1 >= line.size() || line[end + 1] != '=') return false;
    const std::string_view text = line.substr(begin, end - begin);
    if (text.find_first_of(" \t") != none) return false;
    Word word{"", lowered(line.substr(2, charset_end - 2))};
    if (encoding == 'q') {
      for (std::size_t i = 0; i < text.size(); ++i) {
        const bool quoted = text[i] == '=' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
        word.bytes.push_back(quoted          ? static_cast<char>(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]))
                             : text[i] == '_' ? ' '
                                              : text[i]);
        if (quoted) i += 2;
      }
    } else if (encoding != 'b' || !append_base64(text, word.bytes)) {
      return false;
    }
    line.remove_prefix(end + 2);
    words_.push_back(std::move(word));
    return true;
  }

  std::vector<Word> words_;
  std::string bytes_, text_;
};

// A value such as `text/plain; charset="utf-8"`: what it says first, in lower case, and its parameters.
struct Parameters {
  std::string first;
  std::vector<std::pair<std::string, std::string>> others;

  const std::string* find(std::string_view name) const {
    for (const auto& [own, value] : others)
      if (own == name) return &value;
    return nullptr;
  }

  // False if the value is not of this form, or in one of its rarer spellings.
  bool read(std::string_view value) {
    others.clear();
    std::size_t at = 0;
    const auto spaces = [&] {
      while (at < value.size() && std::string_view(" \t\r\n").find(value[at]) != std::string_view::npos) ++at;
    };
    const auto run = [&](std::string_view refused) {
      const std::size_t begin = at;
      while (at < value.size() && value[at] > ' ' && value[at] < 127 && refused.find(value[at]) == std::string_view::npos) ++at;
      return value.substr(begin, at - begin);
    };
    spaces();
    first = lowered(run(";\"\\<>()=,*"));
    if (first.empty()) return false;
    for (spaces(); at < value.size(); spaces()) {
      if (value[at] != ';') return false;
      ++at;
      spaces();
      if (at == value.size() || value[at] == ';') continue;
      const std::string name = lowered(run(";\"\\<>()=,*"));
      spaces();
      if (name.empty() || at == value.size() || value[at] != '=' || find(name) != nullptr) return false;
      ++at;
      spaces();
      if (at < value.size() && value[at] == '"') {
        const std::size_t end = value.find('"', at + 1);
        if (end == std::string_view::npos) return false;
        const std::string_view inside = value.substr(at + 1, end - at - 1);
        for (const char letter : inside)
          if (letter < ' ' || letter >= 127 || letter == '\\' || letter == '<' || letter == '>') return false;
        if (inside.empty() || inside.front() == ' ' || inside.back() == ' ') return false;
        others.emplace_back(name, inside);
        at = end + 1;
      } else {
        const std::string_view inside = run(";\"\\<>()");
        if (inside.empty()) return false;
        others.emplace_back(name, inside);
      }
    }
    return true;
  }
};

}  // namespace bayesbox
