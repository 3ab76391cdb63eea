// Shared by the recursions of a chain: scaled parameters and emission rows, and vectors of states.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "chain/chain.hpp"
#include "core/functions.hpp"
#include "core/kernels.hpp"

// Every function that takes vectors is inlined, so there is no call whose convention could change.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace bayesbox::chain {

inline constexpr double kNone = -std::numeric_limits<double>::infinity();
inline constexpr double kLogTwo = 0.6931471805599453094;
inline constexpr double kRescale = 0x1p-60;    // a vector whose sum is below is scaled up
inline constexpr double kTooSmall = 0x1p-900;  // a sum below has lost digits
inline constexpr double kLost = 0x1p-700;      // a state below may be lost before it matters again
inline constexpr double kLeast = 0x1p-200;     // smaller non-zero parameters need logarithms
inline constexpr double kLeastLog = -800.0;     // exp of it is zero
inline constexpr std::size_t kLanes = 4;
inline constexpr std::int64_t kBlock = 256;    // steps whose vectors are stored at once; others are recomputed

typedef double Four __attribute__((vector_size(32)));
typedef double LooseFour __attribute__((vector_size(32), aligned(8)));

#define BAYESBOX_INLINE inline __attribute__((always_inline))

// A sum of many terms, with the rounding errors of the additions kept aside.
struct CarefulSum {
  double sum = 0, rest = 0;
  BAYESBOX_INLINE void add(double x) {
    const double next = sum + x, back = next - sum;
    rest += (sum - (next - back)) + (x - back);
    sum = next;
  }
  double value() const { return std::isfinite(sum) ? sum + rest : sum; }
};

inline double power_of_two(int exponent) { return std::ldexp(1.0, exponent); }

inline double log_of_sum(const double* logs, std::size_t count) {
  const double top = *std::max_element(logs, logs + count);
  if (top == kNone) return kNone;
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += portable::exp(logs[k] - top);
  return top + portable::log(sum);
}

// Some rows of terms, each scaled by its largest: P(step | state) / top, padded with zeros, and log(top).
struct ScaledRows {
  ScaledRows() = default;
  ScaledRows(const ChainRequest& request, std::size_t most)
      : width((request.states + kLanes - 1) / kLanes * kLanes), rows(most * width), top(most),
        close(padded(kChunk * request.states)), zeros(padded(kChunk * request.states)) {}

  void make(const ChainRequest& request, std::size_t first, std::size_t count) {
    const std::size_t S = request.states;
    const double* terms = request.log_terms + first * S;
    for (std::size_t d = 0; d < count; ++d) {
      const double most = *std::max_element(terms + d * S, terms + (d + 1) * S);
      top[d] = most == kNone ? 0.0 : most;
    }
    for (std::size_t d = 0; d < count; d += kChunk) {
      const std::size_t some = std::min(kChunk, count - d);
      for (std::size_t i = 0; i < some; ++i)
        for (std::size_t k = 0; k < S; ++k)
          close[i * S + k] = std::max(terms[(d + i) * S + k] - top[d + i], kLeastLog);
      kernels().exponentials(close.data(), zeros.data(), some * S);
      for (std::size_t i = 0; i < some; ++i)
        for (std::size_t k = 0; k < S; ++k)
          rows[(d + i) * width + k] = terms[(d + i) * S + k] == kNone ? 0.0 : close[i * S + k];
    }
  }
  static constexpr std::size_t kChunk = 64;
  std::size_t width = 0;
  std::vector<double> rows, top;
  std::vector<double> close, zeros;  // for the exponentials of a few rows, without padding
};

// Start and transitions as the scaled recursion reads them: rows of doubles padded with zeros.
struct Scaled {
  explicit Scaled(const ChainRequest& request)
      : states(request.states), width((request.states + kLanes - 1) / kLanes * kLanes) {
    const std::size_t S = states;
    start.assign(width, 0.0);
    forward.assign(S * width, 0.0);
    backward.assign(S * width, 0.0);
    for (std::size_t i = 0; i < S; ++i) {
      start[i] = portable::exp(request.log_start[i]);
      note(start[i], false);
      for (std::size_t j = 0; j < S; ++j) {
        const double p = portable::exp(request.log_transition[i * S + j]);
        note(p, true);
        forward[i * width + j] = p;
        backward[j * width + i] = p;
      }
    }
    if (request.codes != nullptr) shared = ScaledRows(request, request.terms), shared.make(request, 0, request.terms);
  }

  std::size_t states, width;
  std::vector<double> start, forward, backward;
  ScaledRows shared;       // the terms, where steps share their rows
  bool has_zero = false;   // an impossible transition
  bool has_least = false;  // a parameter too small for the scaled recursion

 private:
  void note(double p, bool transition) {
    if (p == 0.0)
      has_zero = has_zero || transition;
    else if (p < kLeast)
      has_least = true;
  }
};

// The vectors of one step: in registers where the number of states S is known when compiled, else (S = 0) in memory.
template <int S>
struct Vector {
  static constexpr int fixed = S == 0 ? 1 : (S + 3) / 4;
  Four held[fixed];
  std::vector<double> memory;
  explicit Vector(std::size_t width) {
    if constexpr (S == 0) memory.assign(width + kLanes, 0.0);
  }
  BAYESBOX_INLINE Four get(std::size_t part) const {
    if constexpr (S == 0) return *reinterpret_cast<const LooseFour*>(memory.data() + 4 * part);
    else return held[part];
  }
  BAYESBOX_INLINE void set(std::size_t part, const Four& value) {
    if constexpr (S == 0) *reinterpret_cast<LooseFour*>(memory.data() + 4 * part) = value;
    else held[part] = value;
  }
  BAYESBOX_INLINE double at(std::size_t state) const {
    if constexpr (S == 0) return memory[state];
    else return held[state / 4][state % 4];
  }
};

BAYESBOX_INLINE Four load(const double* from) { return *reinterpret_cast<const LooseFour*>(from); }
BAYESBOX_INLINE void store(double* to, const Four& value) { *reinterpret_cast<LooseFour*>(to) = value; }
BAYESBOX_INLINE Four all(double x) { return Four{x, x, x, x}; }

template <int S>
struct Shape {
  std::size_t given_states, given_parts;
  explicit Shape(std::size_t states) : given_states(states), given_parts((states + 3) / 4) {}
  BAYESBOX_INLINE std::size_t states() const { return S == 0 ? given_states : static_cast<std::size_t>(S); }
  BAYESBOX_INLINE std::size_t parts() const { return S == 0 ? given_parts : static_cast<std::size_t>((S + 3) / 4); }
};

template <int S>
BAYESBOX_INLINE double sum_of(const Vector<S>& x, Shape<S> shape) {
  Four total = x.get(0);
  for (std::size_t p = 1; p < shape.parts(); ++p) total += x.get(p);
  return (total[0] + total[2]) + (total[1] + total[3]);
}

// out = sum over i of x[i] * rows[i]
template <int S>
BAYESBOX_INLINE void times(const Vector<S>& x, const double* rows, std::size_t width, Shape<S> shape, Vector<S>& out) {
  for (std::size_t p = 0; p < shape.parts(); ++p) {
    Four even = all(x.at(0)) * load(rows + 4 * p), odd = all(0.0);
    for (std::size_t i = 1; i < shape.states(); i += 2) {
      odd += all(x.at(i)) * load(rows + i * width + 4 * p);
      if (i + 1 < shape.states()) even += all(x.at(i + 1)) * load(rows + (i + 1) * width + 4 * p);
    }
    out.set(p, even + odd);
  }
}

// Rescales a vector to a sum in [0.5, 1) if it got small; returns the exponent that was removed.
template <int S>
BAYESBOX_INLINE int rescale(Vector<S>& x, Shape<S> shape, double& sum) {
  int exponent = 0;
  sum = std::frexp(sum, &exponent);
  const Four factor = all(power_of_two(-exponent));
  for (std::size_t p = 0; p < shape.parts(); ++p) x.set(p, x.get(p) * factor);
  return exponent;
}

}  // namespace bayesbox::chain
