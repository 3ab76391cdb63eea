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
    return slots_[place_of(level_wanted)];
  }

  // The code of a level, a new one if it had none.
  std::int32_t add(std::string_view level_wanted) {
    if (2 * (ends_.size() + 1) > slots_.size()) grow();
    std::int32_t& slot = slots_[place_of(level_wanted)];
    if (slot == kNone) {
      slot = static_cast<std::int32_t>(ends_.size());
      text_.append(level_wanted);
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
  std::size_t place_of(std::string_view text) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = hash(text) & mask;
    while (slots_[place] != kNone && level(static_cast<std::size_t>(slots_[place])) != text) place = (place + 1) & mask;
    return place;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), kNone);
    for (std::size_t code = 0; code < ends_.size(); ++code) slots_[place_of(level(code))] = static_cast<std::int32_t>(code);
  }

  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::int32_t> slots_;
};

}  // namespace bayesbox
