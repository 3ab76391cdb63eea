// Random numbers that are the same everywhere for the same seed: xoshiro256++ (Blackman and Vigna), seeded by splitmix64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bayesbox {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
      word = mixed ^ (mixed >> 31);
    }
  }

  std::uint64_t bits() {
    const std::uint64_t result = rotated(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return result;
  }
  // Uniform on [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  // A random index with probability proportional to non-negative numbers, with a given positive sum.
  std::size_t choose(const double* weights, std::size_t count, double total) {
    double rest = uniform() * total;
    std::size_t last = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!(weights[i] > 0)) continue;
      last = i;  // rounding may leave a remainder after the last one
      if (rest < weights[i]) return i;
      rest -= weights[i];
    }
    return last;
  }

 private:
  static std::uint64_t rotated(std::uint64_t word, int by) { return (word << by) | (word >> (64 - by)); }

  std::uint64_t state_[4];
};

}  // namespace bayesbox
