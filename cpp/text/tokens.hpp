// Words of a text in UTF-8: runs of word characters, in lower case. A table defines the word characters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "text/ascii_words.hpp"

namespace bayesbox {

inline constexpr std::uint32_t kCodePoints = 0x110000;
inline constexpr std::uint32_t kBroken = kCodePoints;  // what no code point is

// For each code point its lower case where that is a word character, else 0. A code point whose lower case is one word
// character and then something else, such as a dotted capital I, has `kEndsWord` set as well: the mark `kDot` follows it.
// Where `kAlone` is set, the code point is no word character, but a word by itself, as punctuation may be.
class WordTable {
 public:
  static constexpr std::uint32_t kEndsWord = 1u << 31;
  static constexpr std::uint32_t kAlone = 1u << 30;
  static constexpr std::uint32_t kLetter = kAlone - 1;
  static constexpr std::uint32_t kDot = 0x307;

  explicit WordTable(std::vector<std::uint32_t> lower) : lower_(std::move(lower)) {
    if (lower_.size() != kCodePoints) throw std::invalid_argument("table: one entry a code point is needed");
    for (const std::uint32_t entry : lower_)
      if ((entry & kLetter) >= kCodePoints) throw std::invalid_argument("table: an entry is no code point");
    for (std::size_t byte = 0; byte < 128; ++byte) {
      if ((lower_[byte] & ~kAlone) >= 128) throw std::invalid_argument("table: an ASCII character whose lower case is none");
      ascii_[byte] = static_cast<std::uint8_t>((lower_[byte] & kLetter) | ((lower_[byte] & kAlone) != 0 ? 0x80 : 0));
      plain_ascii_ = plain_ascii_ && ascii_[byte] == plain_lower(static_cast<std::uint8_t>(byte));
    }
  }
  // The lower case of a word character, 0 for what separates words; the top bit is set for a word by itself.
  std::uint8_t ascii(std::uint8_t byte) const { return ascii_[byte]; }
  std::uint32_t lower(std::uint32_t code_point) const { return lower_[code_point]; }
  // Whether the word characters of ASCII are the letters, the digits and the underscore, and nothing else is a word.
  bool plain_ascii() const { return plain_ascii_; }

 private:
  static std::uint8_t plain_lower(std::uint8_t byte) {
    const std::uint8_t small = byte | 0x20;
    if (small >= 'a' && small <= 'z') return small;
    return (byte >= '0' && byte <= '9') || byte == '_' ? byte : 0;
  }

  bool plain_ascii_ = true;
  std::vector<std::uint32_t> lower_;
  std::array<std::uint8_t, 256> ascii_{};  // 0 for what is no ASCII, so that a run of letters ends there
};

// Decodes the code point at `at` and advances; kBroken for an invalid byte, which alone is skipped.
inline std::uint32_t next_code_point(const std::uint8_t*& at, const std::uint8_t* end) {
  const std::uint8_t first = *at;
  const auto follows = [&](std::ptrdiff_t k) { return end - at > k && (at[k] & 0xC0) == 0x80; };
  if (first < 0x80) return *at++;
  if (first >= 0xC2 && first < 0xE0 && follows(1)) {
    const std::uint32_t found = (first & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    at += 2;
    return found;
  }
  if (first >= 0xE0 && first < 0xF0 && follows(1) && follows(2)) {
    const std::uint32_t found = (first & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    if (found >= 0x800 && (found < 0xD800 || found > 0xDFFF)) {
      at += 3;
      return found;
    }
  }
  if (first >= 0xF0 && first < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const std::uint32_t found =
        (first & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
    if (found >= 0x10000 && found < kCodePoints) {
      at += 4;
      return found;
    }
  }
  ++at;
  return kBroken;
}

// Whether one byte follows another anywhere; a block at a time, which compilers turn into vectors.
inline bool holds_pair(const std::uint8_t* bytes, std::size_t length, std::uint8_t first, std::uint8_t second) {
  constexpr std::size_t kBlock = 1024;
  for (std::size_t from = 0; from + 1 < length; from += kBlock) {
    const std::size_t stop = std::min(from + kBlock, length - 1);
    std::uint8_t found = 0;
    for (std::size_t i = from; i < stop; ++i)
      found |= static_cast<std::uint8_t>((bytes[i] == first) & (bytes[i + 1] == second));
    if (found != 0) return true;
  }
  return false;
}

// Writes a code point as UTF-8 and returns the place after it.
inline std::uint8_t* write_code_point(std::uint32_t code_point, std::uint8_t* to) {
  if (code_point < 0x80) {
    *to++ = static_cast<std::uint8_t>(code_point);
  } else if (code_point < 0x800) {
    *to++ = static_cast<std::uint8_t>(0xC0 | code_point >> 6);
    *to++ = static_cast<std::uint8_t>(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    *to++ = static_cast<std::uint8_t>(0xE0 | code_point >> 12);
    *to++ = static_cast<std::uint8_t>(0x80 | (code_point >> 6 & 0x3F));
    *to++ = static_cast<std::uint8_t>(0x80 | (code_point & 0x3F));
  } else {
    *to++ = static_cast<std::uint8_t>(0xF0 | code_point >> 18);
    *to++ = static_cast<std::uint8_t>(0x80 | (code_point >> 12 & 0x3F));
    *to++ = static_cast<std::uint8_t>(0x80 | (code_point >> 6 & 0x3F));
    *to++ = static_cast<std::uint8_t>(0x80 | (code_point & 0x3F));
  }
  return to;
}

// Cuts texts into words. It keeps its buffer between texts, so one tokeniser serves one thread.
class Tokeniser {
 public:
  static constexpr std::size_t kSpare = 16;  // readable bytes after a word, for hashing eight at a time

  // Words shorter than `shortest` characters are skipped.
  Tokeniser(const WordTable& table, std::size_t shortest) : table_(table), shortest_(shortest) { grow(512); }

  // Calls each(bytes, length) for every word of the text, in order.
  template <class Each>
  void words(const std::uint8_t* at, const std::uint8_t* end, Each&& each) {
    std::size_t length = 0, characters = 0;
    const auto finish = [&] {
      if (characters >= shortest_ && characters != 0) each(buffer_.data(), length);
      length = characters = 0;
    };
    const auto alone = [&](std::uint32_t code_point) {
      if (characters != 0) finish();
      each(buffer_.data(), static_cast<std::size_t>(write_code_point(code_point, buffer_.data()) - buffer_.data()));
    };
    const std::uint8_t* again = at;  // from where on it is worth looking for a stretch of ASCII
    while (at < end) {
      if (characters == 0 && at >= again && ascii_.usable(table_)) {
        const std::uint8_t* const before = at;
        at = ascii_.words(at, end, shortest_, each);
        again = at + AsciiWords::kBlock;
        if (at != before) continue;
      }
      if (length + kSpare + 8 > buffer_.size()) grow(2 * buffer_.size());
      const std::size_t room = std::min(static_cast<std::size_t>(end - at), buffer_.size() - kSpare - length);
      std::uint8_t* const letters = buffer_.data() + length;
      std::size_t run = 0;
      std::uint8_t lower = 0;
      for (; run < room; ++run) {
        lower = table_.ascii(at[run]);
        if (static_cast<std::int8_t>(lower) <= 0) break;
        letters[run] = lower;
      }
      at += run;
      length += run;
      characters += run;
      if (run == room) continue;
      if (*at < 0x80) {
        ++at;
        if (lower != 0) {
          alone(lower & 0x7Fu);
        } else if (characters != 0) {
          finish();
        }
        continue;
      }
      const std::uint32_t code_point = next_code_point(at, end);
      const std::uint32_t entry = code_point == kBroken ? 0 : table_.lower(code_point);
      if (entry == 0) {
        if (characters != 0) finish();
        continue;
      }
      if ((entry & WordTable::kAlone) != 0) {
        alone(entry & WordTable::kLetter);
        continue;
      }
      std::uint8_t* const to = buffer_.data() + length;
      length += static_cast<std::size_t>(write_code_point(entry & WordTable::kLetter, to) - to);
      ++characters;
      if ((entry & WordTable::kEndsWord) != 0) {
        finish();
        if ((table_.lower(WordTable::kDot) & WordTable::kAlone) != 0) alone(WordTable::kDot);
      }
    }
    finish();
  }

 private:
  void grow(std::size_t size) { buffer_.resize(size); }

  const WordTable& table_;
  std::size_t shortest_;
  AsciiWords ascii_;
  std::vector<std::uint8_t> buffer_;
};

// Cuts texts into runs of this many characters, in lower case; several spaces are one. The table is one of all
// characters: for each code point its lower case, and 0 for a space that may be left out beside another.
class CharacterRuns {
 public:
  CharacterRuns(const WordTable& lower, std::size_t fewest, std::size_t most)
      : table_(lower), fewest_(fewest), most_(most) {}

  // Calls each(bytes, length) for every run, the shorter lengths first.
  template <class Each>
  void words(const std::uint8_t* at, const std::uint8_t* end, Each&& each) {
    read(at, end);
    const std::size_t characters = starts_.size() - 1;
    if (characters == 0) return;
    for (std::size_t count = fewest_; count <= most_ && count <= characters; ++count)
      for (std::size_t first = 0; first + count <= characters; ++first)
        each(text_.data() + starts_[first], starts_[first + count] - starts_[first]);
  }

 private:
  // The text in lower case, and where each character begins. A space by itself stays as it is, several are one.
  void read(const std::uint8_t* at, const std::uint8_t* end) {
    text_.clear();
    starts_.clear();
    std::size_t spaces = 0;
    while (at < end) {
      const std::uint32_t code_point = next_code_point(at, end);
      const std::uint32_t entry = code_point == kBroken ? 0 : table_.lower(code_point);
      spaces = entry == 0 ? spaces + 1 : 0;
      if (spaces > 1) {
        if (spaces == 2) {
          text_.resize(starts_.back());
          text_.push_back(' ');
        }
        continue;
      }
      put(entry == 0 ? (code_point == kBroken ? ' ' : code_point) : entry & WordTable::kLetter);
      if ((entry & WordTable::kEndsWord) != 0) put(WordTable::kDot);
    }
    starts_.push_back(text_.size());
    text_.resize(text_.size() + Tokeniser::kSpare);
  }
  void put(std::uint32_t code_point) {
    starts_.push_back(text_.size());
    std::uint8_t letters[4];
    text_.insert(text_.end(), letters, write_code_point(code_point, letters));
  }

  const WordTable& table_;
  std::size_t fewest_, most_;
  std::vector<std::uint8_t> text_;
  std::vector<std::size_t> starts_;
};

}  // namespace bayesbox
