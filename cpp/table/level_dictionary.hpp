// The levels of a column as bytes, in order of appearance, for counting streamed batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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
    if (!offsets.empty()) codes_.reserve(offsets.size() - 1);
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      poll_at(i);
      const auto first = static_cast<std::size_t>(offsets[i]), last = static_cast<std::size_t>(offsets[i + 1]);
      codes_.push_back(add(letters.substr(first, last - first)));
    }
    letters_.assign(letters);
    offsets_ = offsets;
    return codes_;
  }

  // The codes of all levels of another dictionary, in its order.
  std::vector<std::int64_t> codes(const LevelDictionary& other) {
    std::vector<std::int64_t> found(other.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      poll_at(i);
      found[i] = this == &other ? static_cast<std::int64_t>(i) : add(other.level(i));
    }
    return found;
  }

  // These codes in the order of their levels' bytes, which is that of their letters.
  void sort(std::vector<std::int64_t>& codes) const {
    std::sort(codes.begin(), codes.end(), [this](std::int64_t one, std::int64_t other) {
      return level(static_cast<std::size_t>(one)) < level(static_cast<std::size_t>(other));
    });
  }

 private:
  std::int64_t add(std::string_view level) {
    if (index_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      throw std::overflow_error("levels: too many distinct levels");
    return index_.add(level);
  }

  LevelIndex index_;
  std::string letters_;
  std::vector<std::int64_t> offsets_, codes_;
};

}  // namespace bayesbox
