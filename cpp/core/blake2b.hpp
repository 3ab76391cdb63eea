// BLAKE2b with a digest of 64 bytes, without a key (RFC 7693).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace bayesbox::blake2b {

static_assert(std::endian::native == std::endian::little, "words are read as they stand in memory");

using State = std::array<std::uint64_t, 8>;

inline constexpr std::size_t kBlock = 128;   // bytes
inline constexpr std::size_t kDigest = 64;   // bytes
inline constexpr std::size_t kPerson = 16;   // bytes of the personalisation

inline constexpr State kStart = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

inline constexpr std::uint8_t kOrder[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

// By reference: a vector that is returned would be passed in another way by each path.
template <int Bits, class Word>
[[gnu::always_inline]] inline void rotate(Word& word) {
  word = (word >> Bits) | (word << (64 - Bits));
}

// The mixing function G. A word may be a vector of words, each of another hash.
template <class Word>
[[gnu::always_inline]] inline void mix(Word& a, Word& b, Word& c, Word& d, const Word& x, const Word& y) {
  a = a + b + x;
  d = d ^ a;
  rotate<32>(d);
  c = c + d;
  b = b ^ c;
  rotate<24>(b);
  a = a + b + y;
  d = d ^ a;
  rotate<16>(d);
  c = c + d;
  b = b ^ c;
  rotate<63>(b);
}

// The compression function F: `length` are the bytes up to the end of this block.
template <class Word>
[[gnu::always_inline]] inline void compress(Word (&state)[8], const Word (&message)[16], std::uint64_t length, bool last) {
  Word v[16];
  for (std::size_t i = 0; i < 8; ++i) {
    v[i] = state[i];
    v[i + 8] = Word{} + kStart[i];
  }
  v[12] = v[12] ^ length;
  if (last) v[14] = ~v[14];
#pragma GCC unroll 12
  for (std::size_t round = 0; round < 12; ++round) {
    const std::uint8_t* const order = kOrder[round];
    mix(v[0], v[4], v[8], v[12], message[order[0]], message[order[1]]);
    mix(v[1], v[5], v[9], v[13], message[order[2]], message[order[3]]);
    mix(v[2], v[6], v[10], v[14], message[order[4]], message[order[5]]);
    mix(v[3], v[7], v[11], v[15], message[order[6]], message[order[7]]);
    mix(v[0], v[5], v[10], v[15], message[order[8]], message[order[9]]);
    mix(v[1], v[6], v[11], v[12], message[order[10]], message[order[11]]);
    mix(v[2], v[7], v[8], v[13], message[order[12]], message[order[13]]);
    mix(v[3], v[4], v[9], v[14], message[order[14]], message[order[15]]);
  }
  for (std::size_t i = 0; i < 8; ++i) state[i] = state[i] ^ v[i] ^ v[i + 8];
}

// The state before the first block, of a hash with this personalisation of up to 16 bytes.
inline State start_of(std::string_view person) {
  State state = kStart;
  state[0] ^= 0x01010000 ^ kDigest;
  char bytes[kPerson] = {};
  std::memcpy(bytes, person.data(), person.size() < kPerson ? person.size() : kPerson);
  std::uint64_t words[2];
  std::memcpy(words, bytes, kPerson);
  state[6] ^= words[0];
  state[7] ^= words[1];
  return state;
}

// The digest of some bytes.
inline State digest(const State& start, std::span<const std::uint8_t> data) {
  std::uint64_t state[8], message[16];
  std::memcpy(state, start.data(), sizeof state);
  std::size_t done = 0;
  for (; data.size() - done > kBlock; done += kBlock) {
    std::memcpy(message, data.data() + done, kBlock);
    compress(state, message, done + kBlock, false);
  }
  std::memset(message, 0, sizeof message);
  if (data.size() > done) std::memcpy(message, data.data() + done, data.size() - done);
  compress(state, message, data.size(), true);
  State result;
  std::memcpy(result.data(), state, sizeof state);
  return result;
}

}  // namespace bayesbox::blake2b
