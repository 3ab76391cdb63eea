// Words and their numbers: a hash table with a random key, so that no one can craft words that collide in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/large_pages.hpp"

namespace bayesbox {

class Vocabulary {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  Vocabulary() : slots_(1024) {
    std::random_device random;
    for (std::uint64_t& part : key_) part = (static_cast<std::uint64_t>(random()) << 32 | random()) | 1;
  }

  std::size_t size() const { return ends_.size() - 1; }
  std::size_t bytes() const { return letters_.size(); }
  std::string_view word(std::uint32_t number) const {
    return {letters_.data() + ends_[number], static_cast<std::size_t>(ends_[number + 1] - ends_[number])};
  }

  // A short word stands in the table itself, so that finding it touches one line of memory: its first eight bytes, and
  // then three more and its length. A long word stands there by its hash and length, and is compared in full.
  static constexpr std::size_t kShort = 11;
  static constexpr std::size_t kSpare = 16;  // readable bytes after a word, for hashing eight at a time
  struct Key {
    std::uint64_t low;
    std::uint32_t high;
    std::uint32_t hash;
  };

  // Sixteen bytes past the word's end must be readable.
  Key key_of(const std::uint8_t* bytes, std::size_t length) const {
    if (length <= kShort) {
      const std::uint64_t low = piece(bytes, 8) & kLow[length];  // no branch, which lengths would mislead
      const std::uint32_t rest = static_cast<std::uint32_t>(piece(bytes + 8, 8)) & kHigh[length];
      const std::uint32_t high = rest | static_cast<std::uint32_t>(length) << 24;
      return {low, high, hash_of(low, high)};
    }
    std::uint64_t state = key_[0] ^ length;
    std::size_t left = length;
    for (; left > 8; bytes += 8, left -= 8) state = mixed(state ^ piece(bytes, 8), key_[1]);
    const std::uint64_t hash = mixed(state ^ piece(bytes, left), key_[2]);
    return {hash, kLong | static_cast<std::uint32_t>(length & 0xFFFFFF), static_cast<std::uint32_t>(hash)};
  }
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash & (slots_.size() - 1)]); }
  // The letters that a long word will be compared with, once its place in the table is there.
  void prefetch_letters(const Key& key) const {
    const Slot& slot = slots_[key.hash & (slots_.size() - 1)];
    if (slot.number != kNone) __builtin_prefetch(letters_.data() + ends_[slot.number]);
  }

  // The number of a word, kNone if absent. The bytes of a short word are in its key.
  std::uint32_t find(const Key& key, const std::uint8_t* bytes = nullptr, std::size_t length = 0) const {
    return slots_[place(key, bytes, length)].number;
  }
  bool contains(const std::uint8_t* bytes, std::size_t length) const {
    return find(key_of(bytes, length), bytes, length) != kNone;
  }

  // The number of a word, a new one if absent.
  std::uint32_t add(const Key& key, const std::uint8_t* bytes = nullptr, std::size_t length = 0) {
    Slot& slot = slots_[place(key, bytes, length)];
    if (slot.number != kNone) return slot.number;
    const std::size_t number = size();
    if (number >= kMost) throw std::length_error("more words than a vocabulary takes");
    if (key.high < kLong) append(key);
    else letters_.insert(letters_.end(), bytes, bytes + length);
    ends_.push_back(letters_.size());
    slot = {key.low, key.high, static_cast<std::uint32_t>(number)};
    if (2 * size() > slots_.size()) rehash(2 * slots_.size());
    return static_cast<std::uint32_t>(number);
  }

  // The same for a word that lies anywhere.
  std::uint32_t add_word(std::string_view word) {
    const std::uint8_t* const bytes = padded(word);
    return add(key_of(bytes, word.size()), bytes, word.size());
  }
  // The same for many, whose places in the table are fetched before they are needed; as many as `distinct` are expected.
  std::vector<std::uint32_t> add_words(const std::vector<std::string_view>& words, std::size_t distinct) {
    std::size_t slots = slots_.size();
    while (slots < 2 * (size() + distinct) + 2) slots *= 2;
    if (slots > slots_.size()) rehash(slots);
    ends_.reserve(ends_.size() + distinct);
    std::vector<std::uint32_t> numbers(words.size());
    constexpr std::size_t kTogether = 32;
    Key keys[kTogether];
    for (std::size_t first = 0; first < words.size(); first += kTogether) {
      const std::size_t count = std::min(kTogether, words.size() - first);
      poll(8 * count);
      for (std::size_t i = 0; i < count; ++i) {
        keys[i] = key_of(padded(words[first + i]), words[first + i].size());
        prefetch(keys[i]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::string_view word = words[first + i];
        numbers[first + i] = add(keys[i], reinterpret_cast<const std::uint8_t*>(word.data()), word.size());
      }
    }
    return numbers;
  }

  // The numbers in the order of the words' bytes, which is that of their code points.
  std::vector<std::uint32_t> sorted() const {
    if (size() < kFewSorted) return sorted_at_once();
    std::vector<std::uint32_t> starts((std::size_t{1} << kSortedBits) + 1);  // of the words with the same beginning
    std::vector<std::uint64_t> prefixes(size());
    for (std::uint32_t number = 0; number < prefixes.size(); ++number) {
      prefixes[number] = prefix(word(number));
      ++starts[(prefixes[number] >> (64 - kSortedBits)) + 1];
    }
    for (std::size_t beginning = 1; beginning < starts.size(); ++beginning) starts[beginning] += starts[beginning - 1];
    std::vector<Prefixed> order(size());
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    for (std::uint32_t number = 0; number < prefixes.size(); ++number)
      order[next[prefixes[number] >> (64 - kSortedBits)]++] = {prefixes[number], number};
    for (std::size_t beginning = 0; beginning + 1 < starts.size(); ++beginning)
      sort_from(order.data() + starts[beginning], order.data() + starts[beginning + 1], 0);
    std::vector<std::uint32_t> numbers(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) numbers[i] = order[i].second;
    return numbers;
  }

 private:
  // The bytes of a short word among the first eight, and among the next, by its length.
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  static constexpr std::uint64_t kLow[kShort + 1] = {0,          kAll >> 56, kAll >> 48, kAll >> 40, kAll >> 32, kAll >> 24,
                                                     kAll >> 16, kAll >> 8,  kAll,       kAll,       kAll,       kAll};
  static constexpr std::uint32_t kHigh[kShort + 1] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFFFF, 0xFFFFFF};
  static constexpr std::size_t kDeepest = 256;  // bytes that are sorted by eight at a time
  static constexpr int kSortedBits = 16;  // the beginnings that are told apart by counting
  static constexpr std::size_t kFewSorted = std::size_t{1} << 13;  // words that are fewer than beginnings to look through
  static constexpr std::size_t kMost = std::size_t{1} << 31;  // words, as many as hashes tell apart well enough
  static constexpr std::uint32_t kLong = 0xFF000000u;  // in place of the length of a short word
  struct Slot {
    std::uint64_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t number = kNone;
  };

  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  std::uint32_t hash_of(std::uint64_t low, std::uint32_t high) const {
    return static_cast<std::uint32_t>(mixed(low ^ key_[0], high ^ key_[1]));
  }
  // Up to eight bytes as a number; what follows them is not part of it.
  static std::uint64_t piece(const std::uint8_t* bytes, std::size_t length) {
    std::uint64_t value;
    std::memcpy(&value, bytes, 8);
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
    return length >= 8 ? value : value & ((std::uint64_t{1} << 8 * length) - 1);
  }
  // The letters of a short word, from its key.
  void append(const Key& key) {
    const std::size_t length = key.high >> 24;
    for (std::size_t i = 0; i < length; ++i)
      letters_.push_back(static_cast<char>(i < 8 ? key.low >> 8 * i : key.high >> 8 * (i - 8)));
  }
  std::size_t place(const Key& key, const std::uint8_t* bytes, std::size_t length) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = key.hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.low == key.low && slot.high == key.high) {  // an empty slot has no length, so it is like no word
        if (key.high < kLong) return at;
        const std::string_view found = word(slot.number);
        if (found.size() == length && std::memcmp(found.data(), bytes, length) == 0) return at;
      } else if (slot.number == kNone) {
        return at;
      }
    }
  }
  const std::uint8_t* padded(std::string_view word) {
    if (padded_.size() < word.size() + kSpare) padded_.resize(word.size() + kSpare);
    std::memcpy(padded_.data(), word.data(), word.size());
    return padded_.data();
  }
  void rehash(std::size_t size) {
    LargeVector<Slot> before(size);
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.number == kNone) continue;
      const std::uint32_t hash = slot.high < kLong ? hash_of(slot.low, slot.high) : static_cast<std::uint32_t>(slot.low);
      std::size_t at = hash & (slots_.size() - 1);
      while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }
  // Sorts words that are alike before byte `depth`, whose next eight bytes are known; what is alike there by the next.
  using Prefixed = std::pair<std::uint64_t, std::uint32_t>;
  void sort_from(Prefixed* first, Prefixed* last, std::size_t depth) const {
    if (last - first < 2) return;
    if (depth > kDeepest) {  // of such long words there are few
      std::sort(first, last, [&](const Prefixed& one, const Prefixed& other) { return word(one.second) < word(other.second); });
      return;
    }
    std::sort(first, last, [](const Prefixed& one, const Prefixed& other) { return one.first < other.first; });
    for (Prefixed* run = first; run != last;) {
      Prefixed* end = run + 1;
      while (end != last && end->first == run->first) ++end;
      if (end - run > 1) {  // words that end here come first, the shorter before those that end in zeros
        const auto ended = std::partition(run, end, [&](const Prefixed& each) { return word(each.second).size() <= depth + 8; });
        std::sort(run, ended, [&](const Prefixed& one, const Prefixed& other) {
          return word(one.second).size() < word(other.second).size();
        });
        for (Prefixed* each = ended; each != end; ++each) each->first = prefix(word(each->second).substr(depth + 8));
        sort_from(ended, end, depth + 8);
      }
      run = end;
    }
  }
  // The same without counting beginnings, of which there are more than words.
  std::vector<std::uint32_t> sorted_at_once() const {
    std::vector<Prefixed> order(size());
    for (std::uint32_t number = 0; number < order.size(); ++number) order[number] = {prefix(word(number)), number};
    sort_from(order.data(), order.data() + order.size(), 0);
    std::vector<std::uint32_t> numbers(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) numbers[i] = order[i].second;
    return numbers;
  }
  static std::uint64_t prefix(std::string_view letters) {
    std::uint8_t bytes[8] = {};
    std::memcpy(bytes, letters.data(), std::min<std::size_t>(letters.size(), 8));
    return __builtin_bswap64(piece(bytes, 8));
  }

  std::uint64_t key_[3];
  LargeVector<Slot> slots_;
  std::vector<char> letters_;
  std::vector<std::uint64_t> ends_ = {0};
  std::vector<std::uint8_t> padded_;
};

}  // namespace bayesbox
