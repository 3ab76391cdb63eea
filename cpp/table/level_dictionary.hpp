// The levels of a column as bytes, in order of appearance, for counting streamed batches.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exact_array.hpp"
#include "core/interrupt.hpp"
#include "table/level_index.hpp"

namespace bayesbox {

class LevelDictionary {
 public:
  std::size_t size() const { return index_.size(); }
  std::string_view level(std::size_t code) const { return index_.level(code); }

  // The codes of texts that stand one after another, new ones where they had none. The batches of a file often come with
  // one dictionary again and again: what equals the last one byte by byte is not looked up a second time.
  const std::vector<std::int64_t>& codes(std::string_view letters, const std::vector<std::int64_t>& offsets) {
    if (letters == letters_ && offsets == offsets_) return codes_;
    offsets_.clear();  // an interrupt leaves nothing remembered
    codes_.clear();
    add_all(offsets.empty() ? 0 : offsets.size() - 1, codes_, [&](std::size_t i) {
      const auto first = static_cast<std::size_t>(offsets[i]), last = static_cast<std::size_t>(offsets[i + 1]);
      return letters.substr(first, last - first);
    });
    letters_.assign(letters);
    offsets_ = offsets;
    return codes_;
  }

  // The codes of the first levels of another dictionary, in its order.
  std::vector<std::int64_t> codes(const LevelDictionary& other, std::size_t count) {
    std::vector<std::int64_t> found;
    if (this == &other) {
      found.resize(count);
      std::iota(found.begin(), found.end(), std::int64_t{0});
    } else {
      add_all(count, found, [&](std::size_t i) { return other.level(i); });
    }
    return found;
  }

  // The sum of cells by this dictionary, `width` a level, and of others whose levels have these codes.
  ExactArray sum(const ExactArray& cells, const std::vector<std::int64_t>& codes, const ExactArray& counted,
                 std::size_t width) const {
    ExactArray total = cells.lengthened(size() * width);
    total.merge_groups(counted, codes, width);
    return total;
  }

  // These codes in the order of their levels' bytes, which is that of their letters. Most levels differ in the eight
  // bytes behind those that all begin with, which are compared as one number.
  void sort(std::vector<std::int64_t>& codes) const {
    if (codes.empty()) return;
    std::string_view shared = level_of(codes.front());
    for (const std::int64_t code : codes) {
      const std::string_view text = level_of(code);
      const auto [end, _] = std::mismatch(shared.begin(), shared.end(), text.begin(), text.end());
      shared = shared.substr(0, static_cast<std::size_t>(end - shared.begin()));
    }
    std::vector<std::pair<std::uint64_t, std::int64_t>> keyed;
    keyed.reserve(codes.size());
    for (const std::int64_t code : codes) keyed.emplace_back(eight_bytes(level_of(code).substr(shared.size())), code);
    std::sort(keyed.begin(), keyed.end(), [this](const auto& one, const auto& other) {
      return one.first != other.first ? one.first < other.first : level_of(one.second) < level_of(other.second);
    });
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = keyed[i].second;
  }

 private:
  std::string_view level_of(std::int64_t code) const { return level(static_cast<std::size_t>(code)); }

  // The first eight bytes as a number, zeros behind the end.
  static std::uint64_t eight_bytes(std::string_view text) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < 8; ++i) found = found << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
    return found;
  }

  template <class TextOf>
  void add_all(std::size_t count, std::vector<std::int64_t>& codes, const TextOf& text_of) {
    constexpr std::size_t kTogether = 32;
    if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - index_.size())
      throw std::overflow_error("levels: too many distinct levels");
    codes.reserve(count);
    std::array<LevelIndex::Key, kTogether> keys;
    for (std::size_t first = 0; first < count; first += kTogether) {
      poll(kTogether);
      const std::size_t some = std::min(kTogether, count - first);
      for (std::size_t i = 0; i < some; ++i) index_.fetch_slot(keys[i] = LevelIndex::key(text_of(first + i)));
      for (std::size_t i = 0; i < some; ++i) index_.fetch_end(keys[i]);
      for (std::size_t i = 0; i < some; ++i) index_.fetch_letters(keys[i]);
      for (std::size_t i = 0; i < some; ++i) codes.push_back(index_.enter(keys[i]));
    }
  }

  LevelIndex index_;
  std::string letters_;
  std::vector<std::int64_t> offsets_, codes_;
};

}  // namespace bayesbox
