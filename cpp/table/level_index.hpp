// From the bytes of a level to its code: a hash with open addresses over one piece of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace bayesbox {

class LevelIndex {
 public:
  static constexpr std::int32_t kNone = -1;

  std::size_t size() const { return ends_.size(); }
  std::string_view level(std::size_t code) const {
    const std::size_t begin = code == 0 ? 0 : ends_[code - 1];
    return {text_.data() + begin, ends_[code] - begin};
  }

  // The code of a level, kNone if it has none.
  std::int32_t find(std::string_view level_wanted) const {
    if (slots_.empty()) return kNone;
    return slots_[place_of(key(level_wanted))];
  }

  // The code of a level, a new one if it had none.
  std::int32_t add(std::string_view level_wanted) { return enter(key(level_wanted)); }

  // A level with its hash. Where many are looked up, the memory of some is fetched before the first is compared: the
  // slots, then the ends of the levels there, then their letters.
  struct Key {
    std::string_view text;
    std::uint64_t hash;
  };
  static Key key(std::string_view text) { return {text, hash(text)}; }
  void fetch_slot(const Key& key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[key.hash & (slots_.size() - 1)]);
  }
  void fetch_end(const Key& key) const {
    if (const std::int32_t code = first_at(key); code != kNone) __builtin_prefetch(&ends_[static_cast<std::size_t>(code)]);
  }
  void fetch_letters(const Key& key) const {
    if (const std::int32_t code = first_at(key); code != kNone)
      __builtin_prefetch(level(static_cast<std::size_t>(code)).data());
  }

  std::int32_t enter(const Key& wanted) {
    if (2 * (ends_.size() + 1) > slots_.size()) grow();
    std::int32_t& slot = slots_[place_of(wanted)];
    if (slot == kNone) {
      slot = static_cast<std::int32_t>(ends_.size());
      text_.append(wanted.text);
      ends_.push_back(text_.size());
    }
    return slot;
  }

 private:
  static std::uint64_t hash(std::string_view text) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
    std::uint64_t found = text.size() * kFactor;
    const char* at = text.data();
    for (std::size_t left = text.size(); left > 0;) {
      const std::size_t some = left < 8 ? left : 8;
      std::uint64_t word = 0;
      std::memcpy(&word, at, some);
      found = (found ^ word) * kFactor;
      found ^= found >> 29;
      at += some;
      left -= some;
    }
    return found ^ found >> 32;
  }

  // The slot of a level, or the empty one where it would go.
  std::size_t place_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = key.hash & mask;
    while (slots_[place] != kNone && level(static_cast<std::size_t>(slots_[place])) != key.text)
      place = (place + 1) & mask;
    return place;
  }

  std::int32_t first_at(const Key& key) const {
    return slots_.empty() ? kNone : slots_[key.hash & (slots_.size() - 1)];
  }

  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), kNone);
    for (std::size_t code = 0; code < ends_.size(); ++code) slots_[place_of(key(level(code)))] = static_cast<std::int32_t>(code);
  }

  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::int32_t> slots_;
};

}  // namespace bayesbox
