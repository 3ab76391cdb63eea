// Forward and backward over the sequences of a chain, scaled; in logarithms if scaling could lose precision.
//
// For the backward pass the forward vectors of one block of steps are stored, and the first one of every block; a block
// is recomputed when the backward pass reaches it. So a sequence of n steps needs n / 256 additional vectors.
#pragma once

#include "chain/lanes.hpp"
#include "chain/likelihood.hpp"
#include "chain/log_space.hpp"
#include "chain/posterior.hpp"
#include "chain/terms.hpp"
#include "chain/vectors.hpp"
#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox::chain {

template <int S>
class Recursion {
 public:
  Recursion(const ChainRequest& request, const Scaled& scaled, const ChainResult& result)
      : request_(request), scaled_(scaled), result_(result), shape_(request.states), terms_(request, scaled, kBlock) {
    if (!result.only_forward()) {
      alpha_.resize(static_cast<std::size_t>(kBlock) * scaled.width);
      starts_.resize(static_cast<std::size_t>((request.longest() + kBlock - 1) / kBlock) * scaled.width);
    }
    if (result.transition != nullptr) sums_.assign(scaled.states * scaled.width, 0.0);
  }

  BAYESBOX_INLINE bool run(std::size_t sequence) {
    const std::int64_t begin = request_.offsets[sequence], steps = request_.offsets[sequence + 1] - begin;
    double log_likelihood = 0;
    terms_.begin(begin, steps);
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
  template <bool Zeros>
  BAYESBOX_INLINE bool forward(std::int64_t begin, std::int64_t steps, double& log_likelihood) {
    const std::size_t width = scaled_.width;
    Vector<S> now(width), next(width);
    for (std::size_t p = 0; p < shape_.parts(); ++p) next.set(p, load(scaled_.start.data() + 4 * p));
    std::int64_t exponents = 0;
    CarefulSum tops;
    double sum = 0;
    for (std::int64_t t = 0;; ++t) {
      poll_at(static_cast<std::size_t>(t), width);
      const StepTerms terms = terms_(begin + t);
      for (std::size_t p = 0; p < shape_.parts(); ++p) now.set(p, next.get(p) * load(terms.row + 4 * p));
      tops.add(terms.top);
      sum = sum_of<S>(now, shape_);
      if (__builtin_expect(!(sum >= kRescale), 0)) {
        if (!(sum >= kTooSmall)) return false;
        exponents += rescale<S>(now, shape_, sum);
      }
      if constexpr (Zeros)
        for (std::size_t k = 0; k < shape_.states(); ++k)
          if (now.at(k) < kLost && next.at(k) > 0 &&
              request_.log_terms[request_.row(begin + t) * scaled_.states + k] != kNone)
            return false;
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
    log_likelihood = static_cast<double>(exponents) * kLogTwo + portable::log(sum) + tops.value();
    return true;
  }

  double* alpha(std::int64_t t) { return alpha_.data() + static_cast<std::size_t>(t % kBlock) * scaled_.width; }
  double* start_of(std::int64_t t) { return starts_.data() + static_cast<std::size_t>(t / kBlock) * scaled_.width; }
  BAYESBOX_INLINE void keep(const Vector<S>& x, double* to) const {
    for (std::size_t p = 0; p < shape_.parts(); ++p) store(to + 4 * p, x.get(p));
  }

  // Recomputes the block that ends before step `stop`, from its first vector: the same operations, the same bits.
  BAYESBOX_INLINE void fill(std::int64_t begin, std::int64_t stop) {
    const std::size_t width = scaled_.width;
    const std::int64_t first = (stop - 1) / kBlock * kBlock;
    poll(static_cast<std::size_t>(kBlock) * width);
    Vector<S> now(width), next(width);
    const double* start = start_of(first);
    for (std::size_t p = 0; p < shape_.parts(); ++p) now.set(p, load(start + 4 * p));
    keep(now, alpha_.data());
    for (std::int64_t t = first + 1; t < stop; ++t) {
      times<S>(now, scaled_.forward.data(), width, shape_, next);
      const double* terms = terms_(begin + t).row;
      for (std::size_t p = 0; p < shape_.parts(); ++p) now.set(p, next.get(p) * load(terms + 4 * p));
      double sum = sum_of<S>(now, shape_);
      if (__builtin_expect(!(sum >= kRescale), 0)) rescale<S>(now, shape_, sum);
      keep(now, alpha(t));
    }
  }

  // Adds the counts of a sequence, once all its sums are known to be accurate.
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
      const double* terms = terms_(begin + t).row;
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
  Terms terms_;
  std::vector<double> alpha_;   // of one block of steps
  std::vector<double> starts_;  // of the first step of each block
  std::vector<double> sums_;    // of the transitions, not yet times their probability
};

template <int S>
using LongLikelihood = Likelihood<S, Recursion>;

template <int S, template <int> class One>
BAYESBOX_INLINE void run_each(const ChainRequest& request, const Scaled& scaled, const ChainResult& result,
                              const std::vector<std::size_t>& sequences) {
  LogRecursion logs(request, result);
  One<S> one(request, scaled, result);
  for (const std::size_t q : sequences)
    if (scaled.has_least || !one.run(q)) logs.run(q);
  one.finish();
}

template <int S, bool Wide>
BAYESBOX_INLINE void run_all(const ChainRequest& request, const Scaled& scaled, const ChainResult& result) {
  Packs packs(request, S > 0 && lanes_apply(scaled, result, Wide));
  if constexpr (S > 0) {
    Lanes<S> lanes(request, scaled, result, packs.longest);
    for (const Pack& pack : packs.packs) {
      poll(static_cast<std::size_t>(pack.longest()) * S);
      if (!lanes.run(pack)) packs.alone.insert(packs.alone.end(), pack.sequence.begin(), pack.sequence.end());
    }
    lanes.finish();
  }
  if (result.only_posterior())
    run_each<S, Meeting>(request, scaled, result, packs.alone);
  else if (result.only_likelihood())
    run_each<S, LongLikelihood>(request, scaled, result, packs.alone);
  else
    run_each<S, Recursion>(request, scaled, result, packs.alone);
}

#if defined(BAYESBOX_AVX2)
void run_group_avx2(const ChainRequest& request, const Scaled& scaled, const ChainResult& result);
#endif

}  // namespace bayesbox::chain
