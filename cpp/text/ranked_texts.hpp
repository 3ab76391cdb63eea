// Texts in the order of their bytes, which is that of their code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.hpp"
#include "text/words.hpp"

namespace bayesbox {

// The distinct texts in order, one after another (text i from end i to end i + 1), and the rank of every text in it.
struct RankedTexts {
  std::vector<std::uint8_t> letters;
  std::vector<std::int64_t> ends = {0};
  std::vector<std::int64_t> ranks;
};

inline RankedTexts rank_texts(const Documents& texts) {
  std::vector<std::string_view> views(texts.size());
  for (std::size_t row = 0; row < views.size(); ++row)
    views[row] = {reinterpret_cast<const char*>(texts.bytes) + texts.offsets[row],
                  static_cast<std::size_t>(texts.offsets[row + 1] - texts.offsets[row])};
  Vocabulary distinct;
  const std::vector<std::uint32_t> numbers = distinct.add_words(views, views.size() / 4);
  RankedTexts ranked;
  ranked.letters.reserve(distinct.bytes());
  ranked.ends.reserve(distinct.size() + 1);
  std::vector<std::int64_t> rank(distinct.size());
  for (const std::uint32_t number : distinct.sorted()) {
    rank[number] = static_cast<std::int64_t>(ranked.ends.size()) - 1;
    const std::string_view text = distinct.word(number);
    ranked.letters.insert(ranked.letters.end(), text.begin(), text.end());
    ranked.ends.push_back(static_cast<std::int64_t>(ranked.letters.size()));
  }
  ranked.ranks.resize(numbers.size());
  for (std::size_t row = 0; row < numbers.size(); ++row) ranked.ranks[row] = rank[numbers[row]];
  return ranked;
}

}  // namespace bayesbox
