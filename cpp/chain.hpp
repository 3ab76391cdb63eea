// Hidden Markov chains: log-likelihood, posteriors, expected counts and the best path, for many sequences in one call.
//
// The emission terms are rows of log P(step | state). A step names its row by a code, so that a chain of a few symbols
// holds a few rows only. Each row is scaled by its own largest term, and the running vectors by powers of two, which
// rounds nothing: the scale is a sum of integers. Where a scaled number that may still matter would get too small, the
// sequence is done again in logarithms, so that -inf is said of impossible sequences only, and nothing is ever NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu.hpp"
#include "kernels.hpp"

// Every function that takes vectors is inlined, so there is no call whose convention could change.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace bayesbox {

struct ChainRequest {
  std::size_t states = 0;
  const double* log_start = nullptr;       // states
  const double* log_transition = nullptr;  // states x states, from row to column
  const double* log_terms = nullptr;       // terms x states
  std::size_t terms = 0;
  const std::int32_t* codes = nullptr;     // the row of each step; null: step t has row t
  const std::int64_t* offsets = nullptr;   // sequences + 1
  std::size_t sequences = 0;

  std::size_t row(std::int64_t step) const {
    return codes != nullptr ? static_cast<std::size_t>(codes[step]) : static_cast<std::size_t>(step);
  }
  std::int64_t longest() const {
    std::int64_t most = 0;
    for (std::size_t q = 0; q < sequences; ++q) most = std::max(most, offsets[q + 1] - offsets[q]);
    return most;
  }
};

// Where results go; a null pointer is a result that nobody asked for. A sequence that is impossible adds to no count,
// and its rows are zeros.
struct ChainResult {
  double* log_likelihood = nullptr;  // sequences
  double* filtered = nullptr;        // steps x states: P(state | steps so far)
  double* posterior = nullptr;       // steps x states: P(state | the whole sequence)
  double* start = nullptr;           // states
  double* transition = nullptr;      // states x states
  double* emission = nullptr;        // terms x states

  bool only_forward() const { return posterior == nullptr && start == nullptr; }
};

namespace chain {

inline constexpr double kNone = -std::numeric_limits<double>::infinity();
inline constexpr double kLogTwo = 0.6931471805599453094;
inline constexpr double kRescale = 0x1p-60;    // a vector whose sum is below is scaled up
inline constexpr double kTooSmall = 0x1p-900;  // a sum below has lost digits
inline constexpr double kLost = 0x1p-700;      // a state below may be lost before it matters again
inline constexpr double kLeast = 0x1p-200;     // parameters that are smaller, and not zero, call for logarithms
inline constexpr std::size_t kLanes = 4;
inline constexpr std::int64_t kBlock = 256;    // steps whose vectors are held at once; others are done again

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
  for (std::size_t k = 0; k < count; ++k) sum += std::exp(logs[k] - top);
  return top + std::log(sum);
}

// Parameters and emission rows as the scaled recursion reads them: rows of doubles padded with zeros.
struct Scaled {
  explicit Scaled(const ChainRequest& request)
      : states(request.states), width((request.states + kLanes - 1) / kLanes * kLanes) {
    const std::size_t S = states;
    start.assign(width, 0.0);
    forward.assign(S * width, 0.0);
    backward.assign(S * width, 0.0);
    for (std::size_t i = 0; i < S; ++i) {
      start[i] = std::exp(request.log_start[i]);
      note(start[i], false);
      for (std::size_t j = 0; j < S; ++j) {
        const double p = std::exp(request.log_transition[i * S + j]);
        note(p, true);
        forward[i * width + j] = p;
        backward[j * width + i] = p;
      }
    }
    emission.assign(request.terms * width, 0.0);
    top.resize(request.terms);
    std::vector<double> shift(padded(width));
    for (std::size_t d = 0; d < request.terms; ++d) {
      const double* terms = request.log_terms + d * S;
      double* out = emission.data() + d * width;
      const double most = *std::max_element(terms, terms + S);
      top[d] = most == kNone ? 0.0 : most;
      for (std::size_t k = 0; k < S; ++k) out[k] = terms[k] == kNone ? -800.0 : std::max(terms[k] - top[d], -800.0);
    }
    exponentials(request);
  }
  std::size_t states, width;
  std::vector<double> start, forward, backward, emission, top;
  bool has_zero = false;   // a transition that cannot be
  bool has_least = false;  // a parameter too small for the scaled recursion

 private:
  void note(double p, bool transition) {
    if (p == 0.0)
      has_zero = has_zero || transition;
    else if (p < kLeast)
      has_least = true;
  }
  void exponentials(const ChainRequest& request) {
    const std::vector<double> zeros(4096, 0.0);
    for (std::size_t at = 0; at < emission.size(); at += 4096)
      kernels().exponentials(emission.data() + at, zeros.data(), std::min<std::size_t>(4096, emission.size() - at));
    for (std::size_t d = 0; d < request.terms; ++d) {
      double* out = emission.data() + d * width;
      for (std::size_t k = 0; k < states; ++k)
        if (request.log_terms[d * states + k] == kNone) out[k] = 0.0;
      for (std::size_t k = states; k < width; ++k) out[k] = 0.0;
    }
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

// Brings a vector's sum back to [0.5, 1) where it got small; gives the exponent that was taken out.
template <int S>
BAYESBOX_INLINE int rescale(Vector<S>& x, Shape<S> shape, double& sum) {
  int exponent = 0;
  sum = std::frexp(sum, &exponent);
  const Four factor = all(power_of_two(-exponent));
  for (std::size_t p = 0; p < shape.parts(); ++p) x.set(p, x.get(p) * factor);
  return exponent;
}

template <int S>
class Recursion {
 public:
  Recursion(const ChainRequest& request, const Scaled& scaled, const ChainResult& result)
      : request_(request), scaled_(scaled), result_(result), shape_(request.states) {
    if (!result.only_forward()) {
      alpha_.resize(static_cast<std::size_t>(kBlock) * scaled.width);
      starts_.resize(static_cast<std::size_t>((request.longest() + kBlock - 1) / kBlock) * scaled.width);
    }
    if (result.transition != nullptr) sums_.assign(scaled.states * scaled.width, 0.0);
  }

  BAYESBOX_INLINE bool run(std::size_t sequence) {
    const std::int64_t begin = request_.offsets[sequence], steps = request_.offsets[sequence + 1] - begin;
    double log_likelihood = 0;
    if (steps > 0) {
      const bool done = scaled_.has_zero ? forward<true>(begin, steps, log_likelihood)
                                         : forward<false>(begin, steps, log_likelihood);
      if (!done) return false;
      if (!result_.only_forward() && !backward_is_sure(begin, steps)) return false;
    }
    result_.log_likelihood[sequence] = log_likelihood;
    return true;
  }

  void finish() {
    if (result_.transition == nullptr) return;
    const std::size_t n = scaled_.states;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        result_.transition[i * n + j] += sums_[i * scaled_.width + j] * scaled_.forward[i * scaled_.width + j];
  }

 private:
  const double* emission(std::int64_t step) const { return scaled_.emission.data() + request_.row(step) * scaled_.width; }

  template <bool Zeros>
  BAYESBOX_INLINE bool forward(std::int64_t begin, std::int64_t steps, double& log_likelihood) {
    const std::size_t width = scaled_.width;
    Vector<S> now(width), next(width);
    for (std::size_t p = 0; p < shape_.parts(); ++p) next.set(p, load(scaled_.start.data() + 4 * p));
    std::int64_t exponents = 0;
    CarefulSum tops;
    double sum = 0;
    for (std::int64_t t = 0;; ++t) {
      const std::size_t row = request_.row(begin + t);
      const double* terms = scaled_.emission.data() + row * width;
      for (std::size_t p = 0; p < shape_.parts(); ++p) now.set(p, next.get(p) * load(terms + 4 * p));
      tops.add(scaled_.top[row]);
      sum = sum_of<S>(now, shape_);
      if (__builtin_expect(!(sum >= kRescale), 0)) {
        if (!(sum >= kTooSmall)) return false;
        exponents += rescale<S>(now, shape_, sum);
      }
      if constexpr (Zeros)
        for (std::size_t k = 0; k < shape_.states(); ++k)
          if (now.at(k) < kLost && next.at(k) > 0 && request_.log_terms[row * scaled_.states + k] != kNone) return false;
      if (result_.filtered != nullptr) {
        double* out = result_.filtered + static_cast<std::size_t>(begin + t) * scaled_.states;
        for (std::size_t k = 0; k < shape_.states(); ++k) out[k] = now.at(k) / sum;
      }
      if (!alpha_.empty()) {
        keep(now, alpha(t));
        if (t % kBlock == 0) keep(now, start_of(t));
      }
      if (t + 1 == steps) break;
      times<S>(now, scaled_.forward.data(), width, shape_, next);
    }
    log_likelihood = static_cast<double>(exponents) * kLogTwo + std::log(sum) + tops.value();
    return true;
  }

  double* alpha(std::int64_t t) { return alpha_.data() + static_cast<std::size_t>(t % kBlock) * scaled_.width; }
  double* start_of(std::int64_t t) { return starts_.data() + static_cast<std::size_t>(t / kBlock) * scaled_.width; }
  BAYESBOX_INLINE void keep(const Vector<S>& x, double* to) const {
    for (std::size_t p = 0; p < shape_.parts(); ++p) store(to + 4 * p, x.get(p));
  }

  // Does the block that ends before step `stop` again, from its first vector on: the same operations, the same bits.
  BAYESBOX_INLINE void fill(std::int64_t begin, std::int64_t stop) {
    const std::size_t width = scaled_.width;
    const std::int64_t first = (stop - 1) / kBlock * kBlock;
    Vector<S> now(width), next(width);
    const double* start = start_of(first);
    for (std::size_t p = 0; p < shape_.parts(); ++p) now.set(p, load(start + 4 * p));
    keep(now, alpha_.data());
    for (std::int64_t t = first + 1; t < stop; ++t) {
      times<S>(now, scaled_.forward.data(), width, shape_, next);
      const double* terms = emission(begin + t);
      for (std::size_t p = 0; p < shape_.parts(); ++p) now.set(p, next.get(p) * load(terms + 4 * p));
      double sum = sum_of<S>(now, shape_);
      if (__builtin_expect(!(sum >= kRescale), 0)) rescale<S>(now, shape_, sum);
      keep(now, alpha(t));
    }
  }

  // Adds the counts of a sequence, once it is sure that all its sums keep their digits.
  BAYESBOX_INLINE bool backward_is_sure(std::int64_t begin, std::int64_t steps) {
    if (!scaled_.has_zero) return backward<true>(begin, steps), true;
    if (!backward<false>(begin, steps)) return false;
    if (steps > kBlock) fill(begin, steps);
    return backward<true>(begin, steps), true;
  }

  template <bool Count>
  BAYESBOX_INLINE bool backward(std::int64_t begin, std::int64_t steps) {
    const std::size_t width = scaled_.width;
    Vector<S> beta(width), weighted(width), before(width);
    for (std::size_t p = 0; p < shape_.parts(); ++p) beta.set(p, all(1.0));
    const double* now = alpha(steps - 1);
    double sum = product(now, beta);
    for (std::int64_t t = steps - 1;; --t) {
      if (!(sum >= kTooSmall)) return false;
      if constexpr (Count) take_posterior(begin + t, now, beta, 1.0 / sum, t == 0);
      if (t == 0) return true;
      const double* terms = emission(begin + t);
      for (std::size_t p = 0; p < shape_.parts(); ++p) weighted.set(p, beta.get(p) * load(terms + 4 * p));
      times<S>(weighted, scaled_.backward.data(), width, shape_, before);
      double size = sum_of<S>(before, shape_);
      if (__builtin_expect(!(size >= kRescale), 0)) {
        if (!(size >= kTooSmall)) return false;
        const Four factor = all(power_of_two(-rescale<S>(before, shape_, size)));
        for (std::size_t p = 0; p < shape_.parts(); ++p) weighted.set(p, weighted.get(p) * factor);
      }
      if (t % kBlock == 0) fill(begin, t);
      now = alpha(t - 1);
      sum = product(now, before);
      if constexpr (Count) {
        if (result_.transition != nullptr && sum >= kTooSmall) {
          const double inverse = 1.0 / sum;
          for (std::size_t i = 0; i < shape_.states(); ++i) {
            const Four share = all(now[i] * inverse);
            for (std::size_t p = 0; p < shape_.parts(); ++p) {
              double* cell = sums_.data() + i * width + 4 * p;
              store(cell, load(cell) + share * weighted.get(p));
            }
          }
        }
      }
      for (std::size_t p = 0; p < shape_.parts(); ++p) beta.set(p, before.get(p));
    }
  }

  BAYESBOX_INLINE double product(const double* alpha, const Vector<S>& beta) const {
    Four total = load(alpha) * beta.get(0);
    for (std::size_t p = 1; p < shape_.parts(); ++p) total += load(alpha + 4 * p) * beta.get(p);
    return (total[0] + total[2]) + (total[1] + total[3]);
  }

  BAYESBOX_INLINE void take_posterior(std::int64_t step, const double* alpha, const Vector<S>& beta, double inverse,
                                      bool first) {
    const std::size_t states = shape_.states();
    double* posterior = result_.posterior == nullptr
                            ? nullptr
                            : result_.posterior + static_cast<std::size_t>(step) * scaled_.states;
    double* emission = result_.emission == nullptr ? nullptr : result_.emission + request_.row(step) * scaled_.states;
    if (posterior == nullptr && emission == nullptr && !(first && result_.start != nullptr)) return;
    for (std::size_t k = 0; k < states; ++k) {
      const double p = std::min(alpha[k] * beta.at(k) * inverse, 1.0);
      if (posterior != nullptr) posterior[k] = p;
      if (emission != nullptr) emission[k] += p;
      if (first && result_.start != nullptr) result_.start[k] += p;
    }
  }

  const ChainRequest& request_;
  const Scaled& scaled_;
  const ChainResult& result_;
  Shape<S> shape_;
  std::vector<double> alpha_;   // of one block of steps
  std::vector<double> starts_;  // of the first step of each block
  std::vector<double> sums_;  // of the transitions, not yet times their probability
};

// The same recursion in logarithms throughout: for the sequences that the scaled one cannot be sure of.
class LogRecursion {
 public:
  LogRecursion(const ChainRequest& request, const ChainResult& result) : request_(request), result_(result) {}

  void run(std::size_t sequence) {
    const std::size_t S = request_.states;
    const std::int64_t begin = request_.offsets[sequence], steps = request_.offsets[sequence + 1] - begin;
    std::vector<double> alpha(static_cast<std::size_t>(steps) * S), ways(S);
    double total = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      double* now = alpha.data() + static_cast<std::size_t>(t) * S;
      const double* terms = request_.log_terms + request_.row(begin + t) * S;
      for (std::size_t j = 0; j < S; ++j) {
        double before = request_.log_start[j];
        if (t > 0) {
          for (std::size_t i = 0; i < S; ++i) ways[i] = now[i - S] + request_.log_transition[i * S + j];
          before = log_of_sum(ways.data(), S);
        }
        now[j] = before + terms[j];
      }
      total = log_of_sum(now, S);
      if (total == kNone) break;
      if (result_.filtered != nullptr)
        for (std::size_t k = 0; k < S; ++k)
          result_.filtered[static_cast<std::size_t>(begin + t) * S + k] = std::exp(now[k] - total);
    }
    result_.log_likelihood[sequence] = total;
    if (total == kNone) {
      for (double* rows : {result_.filtered, result_.posterior})
        if (rows != nullptr)
          std::fill_n(rows + static_cast<std::size_t>(begin) * S, static_cast<std::size_t>(steps) * S, 0.0);
      return;
    }
    if (!result_.only_forward()) backward(begin, steps, alpha, total);
  }

 private:
  void backward(std::int64_t begin, std::int64_t steps, const std::vector<double>& alpha, double total) {
    const std::size_t S = request_.states;
    std::vector<double> beta(S, 0.0), weighted(S), before(S), ways(S);
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      const double* now = alpha.data() + static_cast<std::size_t>(t) * S;
      const std::size_t row = request_.row(begin + t);
      for (std::size_t k = 0; k < S; ++k) {
        const double p = std::min(std::exp(now[k] + beta[k] - total), 1.0);
        if (result_.posterior != nullptr) result_.posterior[static_cast<std::size_t>(begin + t) * S + k] = p;
        if (result_.emission != nullptr) result_.emission[row * S + k] += p;
        if (t == 0 && result_.start != nullptr) result_.start[k] += p;
      }
      if (t == 0) return;
      for (std::size_t k = 0; k < S; ++k) weighted[k] = beta[k] + request_.log_terms[row * S + k];
      for (std::size_t i = 0; i < S; ++i) {
        for (std::size_t j = 0; j < S; ++j) ways[j] = request_.log_transition[i * S + j] + weighted[j];
        if (result_.transition != nullptr)
          for (std::size_t j = 0; j < S; ++j)
            result_.transition[i * S + j] += std::min(std::exp(now[static_cast<std::ptrdiff_t>(i) -
                                                                 static_cast<std::ptrdiff_t>(S)] +
                                                           ways[j] - total),
                                                       1.0);
        before[i] = log_of_sum(ways.data(), S);
      }
      beta.swap(before);
    }
  }

  const ChainRequest& request_;
  const ChainResult& result_;
};

template <int S>
BAYESBOX_INLINE void run_all(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  Recursion<S> recursion(request, scaled, result);
  LogRecursion logs(request, result);
  for (std::size_t q = 0; q < request.sequences; ++q)
    if (scaled.has_least || !recursion.run(q)) logs.run(q);
  recursion.finish();
}

// The best path: max instead of sum, in logarithms. Scores are held a block at a time, and the way back is found from
// them, so that ties go to the first state and no table of pointers is kept.
template <int S>
class BestPath {
 public:
  explicit BestPath(const ChainRequest& request)
      : request_(request), shape_(request.states), width_((request.states + kLanes - 1) / kLanes * kLanes) {
    forward_.assign(request.states * width_, kNone);
    for (std::size_t i = 0; i < request.states; ++i)
      std::copy_n(request.log_transition + i * request.states, request.states, forward_.data() + i * width_);
    const auto blocks = static_cast<std::size_t>((request.longest() + kBlock - 1) / kBlock);
    if (request.codes != nullptr) {
      terms_.assign(request.terms * width_, kNone);
      for (std::size_t d = 0; d < request.terms; ++d)
        std::copy_n(request.log_terms + d * request.states, request.states, terms_.data() + d * width_);
    }
    starts_.assign(blocks * width_, kNone);
    scores_.assign(static_cast<std::size_t>(kBlock) * width_, kNone);
  }

  BAYESBOX_INLINE double run(std::int64_t begin, std::int64_t steps, std::int32_t* path) {
    if (steps == 0) return 0.0;
    const std::size_t states = shape_.states();
    const std::int64_t blocks = (steps + kBlock - 1) / kBlock;
    Vector<S> score(width_), next(width_);
    first(begin, score);
    for (std::int64_t block = 0; block < blocks; ++block) {
      if (block > 0) advance(begin + block * kBlock, score, next);
      keep(score, starts_.data() + static_cast<std::size_t>(block) * width_);
      fill(begin, block, steps, score, next);
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < states; ++k)
      if (score.at(k) > score.at(best)) best = k;
    const double log_p = score.at(best);
    for (std::int64_t block = blocks - 1; block >= 0; --block) {
      const std::int64_t from = block * kBlock, to = std::min(from + kBlock, steps);
      if (block + 1 < blocks) {  // the scores of the last block are still there
        const double* start = starts_.data() + static_cast<std::size_t>(block) * width_;
        for (std::size_t p = 0; p < shape_.parts(); ++p) score.set(p, load(start + 4 * p));
        fill(begin, block, steps, score, next);
      }
      for (std::int64_t t = to - 1; t >= from; --t) {
        if (t + 1 < steps) best = before(scores_.data() + static_cast<std::size_t>(t - from) * width_, best);
        path[begin + t] = static_cast<std::int32_t>(best);
      }
    }
    return log_p;
  }

 private:
  BAYESBOX_INLINE Four terms(std::int64_t step, std::size_t part) const {
    if (request_.codes != nullptr) return load(terms_.data() + request_.row(step) * width_ + 4 * part);
    const double* row = request_.log_terms + request_.row(step) * request_.states;
    const std::size_t left = shape_.states() - 4 * part;
    if (left >= 4) return load(row + 4 * part);
    const double* from = row + 4 * part;
    return Four{from[0], left > 1 ? from[1] : kNone, left > 2 ? from[2] : kNone, kNone};
  }
  BAYESBOX_INLINE void first(std::int64_t step, Vector<S>& score) {
    for (std::size_t p = 0; p < shape_.parts(); ++p) {
      Four start = all(kNone);
      for (std::size_t k = 0; k < std::min<std::size_t>(4, shape_.states() - 4 * p); ++k)
        start[k] = request_.log_start[4 * p + k];
      score.set(p, start + terms(step, p));
    }
  }
  BAYESBOX_INLINE void advance(std::int64_t step, Vector<S>& score, Vector<S>& next) const {
    for (std::size_t p = 0; p < shape_.parts(); ++p) {
      Four even = all(score.at(0)) + load(forward_.data() + 4 * p), odd = all(kNone);
      for (std::size_t i = 1; i < shape_.states(); i += 2) {
        const Four one = all(score.at(i)) + load(forward_.data() + i * width_ + 4 * p);
        odd = one > odd ? one : odd;
        if (i + 1 < shape_.states()) {
          const Four two = all(score.at(i + 1)) + load(forward_.data() + (i + 1) * width_ + 4 * p);
          even = two > even ? two : even;
        }
      }
      next.set(p, (odd > even ? odd : even) + terms(step, p));
    }
    for (std::size_t p = 0; p < shape_.parts(); ++p) score.set(p, next.get(p));
  }
  BAYESBOX_INLINE void keep(const Vector<S>& score, double* to) const {
    for (std::size_t p = 0; p < shape_.parts(); ++p) store(to + 4 * p, score.get(p));
  }
  // The scores of a block, from that of its first step on.
  BAYESBOX_INLINE void fill(std::int64_t begin, std::int64_t block, std::int64_t steps, Vector<S>& score,
                            Vector<S>& next) {
    const std::int64_t from = block * kBlock, to = std::min(from + kBlock, steps);
    keep(score, scores_.data());
    for (std::int64_t t = from + 1; t < to; ++t) {
      advance(begin + t, score, next);
      keep(score, scores_.data() + static_cast<std::size_t>(t - from) * width_);
    }
  }
  // The first best state before `state`.
  BAYESBOX_INLINE std::size_t before(const double* scores, std::size_t state) const {
    std::size_t best = 0;
    double most = scores[0] + forward_[state];
    for (std::size_t i = 1; i < shape_.states(); ++i) {
      const double score = scores[i] + forward_[i * width_ + state];
      best = score > most ? i : best;
      most = score > most ? score : most;
    }
    return best;
  }

  const ChainRequest& request_;
  Shape<S> shape_;
  std::size_t width_;
  std::vector<double> forward_, terms_, starts_, scores_;
};

template <int S>
BAYESBOX_INLINE void best_paths_of(const ChainRequest& request, double* log_p, std::int32_t* path) {
  BestPath<S> best(request);
  for (std::size_t q = 0; q < request.sequences; ++q)
    log_p[q] = best.run(request.offsets[q], request.offsets[q + 1] - request.offsets[q], path);
}

// Both instruction sets do the same operations in the same order, without fused ones, so they give the same bits.
#if defined(BAYESBOX_AVX2)
#define BAYESBOX_AVX2_CODE __attribute__((target("avx2")))
template <int S>
BAYESBOX_AVX2_CODE void run_avx2(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  run_all<S>(request, scaled, result);
}
template <int S>
BAYESBOX_AVX2_CODE void best_avx2(const ChainRequest& request, double* log_p, std::int32_t* path) {
  best_paths_of<S>(request, log_p, path);
}
#endif

template <int S>
void run_with(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
#if defined(BAYESBOX_AVX2)
  if (avx2_switch().load(std::memory_order_relaxed)) return run_avx2<S>(request, scaled, result);
#endif
  run_all<S>(request, scaled, result);
}
template <int S>
void best_with(const ChainRequest& request, double* log_p, std::int32_t* path) {
#if defined(BAYESBOX_AVX2)
  if (avx2_switch().load(std::memory_order_relaxed)) return best_avx2<S>(request, log_p, path);
#endif
  best_paths_of<S>(request, log_p, path);
}

// Calls `with<S>` for up to eight states, `with<0>` for more.
#define BAYESBOX_FOR_STATES(count, with, ...) \
  switch (count) {                            \
    case 2: return with<2>(__VA_ARGS__);      \
    case 3: return with<3>(__VA_ARGS__);      \
    case 4: return with<4>(__VA_ARGS__);      \
    case 5: return with<5>(__VA_ARGS__);      \
    case 6: return with<6>(__VA_ARGS__);      \
    case 7: return with<7>(__VA_ARGS__);      \
    case 8: return with<8>(__VA_ARGS__);      \
    default: return with<0>(__VA_ARGS__);     \
  }

}  // namespace chain

// Forward and, where asked for, backward over every sequence.
inline void forward_backward(const ChainRequest& request, const ChainResult& result) {
  const chain::Scaled scaled(request);
  BAYESBOX_FOR_STATES(request.states, chain::run_with, request, scaled, result)
}

// The most probable path of every sequence and the log of its joint probability; ties go to the first state.
inline void best_paths(const ChainRequest& request, double* log_p, std::int32_t* path) {
  BAYESBOX_FOR_STATES(request.states, chain::best_with, request, log_p, path)
}

#undef BAYESBOX_FOR_STATES
#undef BAYESBOX_AVX2_CODE
#undef BAYESBOX_INLINE

}  // namespace bayesbox
