// Words and their numbers: a hash table with a key of its own, so that nobody can craft words that collide in it.
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

namespace bayesbox {

class Vocabulary {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  Vocabulary() : slots_(1024) {
    std::random_device random;
    for (std::uint64_t& part : key_) part = (static_cast<std::uint64_t>(random()) << 32 | random()) | 1;
  }

  std::size_t size() const { return ends_.size() - 1; }
  std::string_view word(std::uint32_t number) const {
    return {letters_.data() + ends_[number], static_cast<std::size_t>(ends_[number + 1] - ends_[number])};
  }

  // The number of a word, kNone where it is not there. Eight bytes past the word's end must be readable.
  std::uint32_t find(const std::uint8_t* bytes, std::size_t length) const { return slots_[place(bytes, length)].number; }

  // The number of a word, a new one where it is not there.
  std::uint32_t add(const std::uint8_t* bytes, std::size_t length) {
    Slot& slot = slots_[place(bytes, length)];
    if (slot.number != kNone) return slot.number;
    const std::size_t number = size();
    if (number >= kNone) throw std::length_error("more words than a vocabulary takes");
    letters_.insert(letters_.end(), bytes, bytes + length);
    ends_.push_back(letters_.size());
    slot = {static_cast<std::uint32_t>(hash(bytes, length) >> 32), static_cast<std::uint32_t>(number)};
    if (2 * size() > slots_.size()) grow();
    return static_cast<std::uint32_t>(number);
  }

  // The numbers in the order of the words' bytes, which is that of their code points.
  std::vector<std::uint32_t> sorted() const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order(size());
    for (std::uint32_t number = 0; number < order.size(); ++number) order[number] = {prefix(word(number)), number};
    std::sort(order.begin(), order.end(), [&](const auto& one, const auto& other) {
      return one.first != other.first ? one.first < other.first : word(one.second) < word(other.second);
    });
    std::vector<std::uint32_t> numbers(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) numbers[i] = order[i].second;
    return numbers;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;  // the upper half of the hash
    std::uint32_t number = kNone;
  };

  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  std::uint64_t hash(const std::uint8_t* bytes, std::size_t length) const {
    std::uint64_t state = key_[0] ^ length, piece;
    for (; length > 8; bytes += 8, length -= 8) {
      std::memcpy(&piece, bytes, 8);
      state = mixed(state ^ piece, key_[1]);
    }
    std::memcpy(&piece, bytes, 8);
    if (length < 8) {  // what follows the word is not part of it
      if constexpr (std::endian::native == std::endian::little) piece &= (std::uint64_t{1} << 8 * length) - 1;
      else piece = length == 0 ? 0 : piece >> 8 * (8 - length);
    }
    return mixed(state ^ piece, key_[2]);
  }
  std::size_t place(const std::uint8_t* bytes, std::size_t length) const {
    const std::uint64_t code = hash(bytes, length);
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = static_cast<std::uint32_t>(code >> 32);
    std::size_t at = code & mask;
    for (; slots_[at].number != kNone; at = (at + 1) & mask) {
      if (slots_[at].tag != tag) continue;
      const std::string_view found = word(slots_[at].number);
      if (found.size() == length && std::memcmp(found.data(), bytes, length) == 0) break;
    }
    return at;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), Slot{});
    std::vector<std::uint8_t> padded;
    for (std::uint32_t number = 0; number < size(); ++number) {
      const std::string_view letters = word(number);
      padded.assign(letters.begin(), letters.end());
      padded.resize(letters.size() + 16);
      const std::uint64_t code = hash(padded.data(), letters.size());
      std::size_t at = code & (slots_.size() - 1);
      while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {static_cast<std::uint32_t>(code >> 32), number};
    }
  }
  static std::uint64_t prefix(std::string_view letters) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i)
      value = value << 8 | (i < letters.size() ? static_cast<std::uint8_t>(letters[i]) : 0);
    return value;
  }

  std::uint64_t key_[3];
  std::vector<Slot> slots_;
  std::vector<char> letters_;
  std::vector<std::uint64_t> ends_ = {0};
};

}  // namespace bayesbox
