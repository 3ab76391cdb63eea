// Words of a stretch of ASCII, sixteen bytes at a time: letters, digits and underscores, in lower case.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bayesbox {

class AsciiWords {
 public:
  static constexpr std::size_t kBlock = 64;  // bytes that one mask describes

  // Whether a table of word characters asks for these words, and this machine can give them.
  template <class Table>
  static bool usable(const Table& table) {
#if defined(__SSE2__)
    return table.plain_ascii();
#else
    static_cast<void>(table);
    return false;
#endif
  }

  // Calls each(bytes, length) for the words from `at` on, as far as the bytes are ASCII and the words are known to be
  // whole; the place behind the last of them, which is `at` where there is none.
  template <class Each>
  const std::uint8_t* words(const std::uint8_t* at, const std::uint8_t* end, std::size_t shortest, Each&& each) {
    if (lower_.empty()) {
      lower_.resize(kBlock * (kBlocks + 1));
      edges_.resize(kBlock * kBlocks + 1);
    }
    const auto left = static_cast<std::size_t>(end - at);
    std::size_t number = 0, edges = 0;
    std::uint64_t before = 0;  // 1 where the last byte was part of a word
    for (std::size_t block = 0; block < kBlocks && block * kBlock < left; ++block) {
      const std::size_t from = block * kBlock;
      std::uint8_t tail[kBlock];
      const std::uint8_t* bytes = at + from;
      if (left - from < kBlock) {  // spaces fill the last block
        std::memset(tail, ' ', kBlock);
        std::memcpy(tail, bytes, left - from);
        bytes = tail;
      }
      std::uint64_t mask;
      if (!read(bytes, lower_.data() + from, mask)) break;
      const std::uint64_t shifted = mask << 1 | before;
      before = mask >> 63;
      for (std::uint64_t bits = mask ^ shifted; bits != 0; bits &= bits - 1)
        edges_[edges++] = static_cast<std::uint32_t>(from) + static_cast<std::uint32_t>(std::countr_zero(bits));
      ++number;
    }
    std::size_t used = number * kBlock < left ? number * kBlock : left;
    if (edges % 2 != 0) {  // the last word is open
      if (used == left) edges_[edges++] = static_cast<std::uint32_t>(left);
      else used = edges_[--edges];  // it may go on
    }
    for (std::size_t edge = 0; edge < edges; edge += 2)
      if (const std::size_t length = edges_[edge + 1] - edges_[edge]; length >= shortest) each(lower_.data() + edges_[edge], length);
    return at + used;
  }

 private:
  static constexpr std::size_t kBlocks = 64;  // so that the letters stay near

  // The letters in lower case, and a bit for each that is part of a word; false where one is not ASCII.
  static bool read(const std::uint8_t* bytes, std::uint8_t* lower, std::uint64_t& mask) {
    mask = 0;
#if defined(__SSE2__)
    const auto within = [](__m128i value, char first, char last) {  // first <= value <= last
      const __m128i above = _mm_sub_epi8(value, _mm_set1_epi8(first));
      return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(last - first))), above);
    };
    int high = 0;
    for (int part = 0; part < 4; ++part) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
      const __m128i letter = within(_mm_or_si128(value, _mm_set1_epi8(0x20)), 'a', 'z');
      const __m128i word = _mm_or_si128(_mm_or_si128(letter, within(value, '0', '9')), _mm_cmpeq_epi8(value, _mm_set1_epi8('_')));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(lower + 16 * part),
                       _mm_or_si128(value, _mm_and_si128(letter, _mm_set1_epi8(0x20))));
      mask |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(word))) << 16 * part;
      high |= _mm_movemask_epi8(value);
    }
    return high == 0;
#else
    static_cast<void>(bytes);
    static_cast<void>(lower);
    return false;
#endif
  }

  std::vector<std::uint8_t> lower_;
  std::vector<std::uint32_t> edges_;  // where a word begins, where it ends, where the next one begins
};

}  // namespace bayesbox
