// Forward and backward over four short sequences at once, one in each lane of the vectors.
//
// A recursion waits for its own last step; four side by side take hardly longer than one. Each lane does the same
// operations as for a single sequence, so its log-likelihood and posteriors have the same bits. Counts are summed in
// another order, that of the packs, which depends only on the lengths.
#pragma once

#include "chain/packs.hpp"
#include "chain/terms.hpp"
#include "chain/vectors.hpp"
#include "core/functions.hpp"

namespace bayesbox::chain {

// Impossible transitions need checks that only the recursion of a single sequence has. Lanes are faster if the
// processor has vectors of four (`wide`); counts use lanes on other processors too, so that they are the same on all.
inline bool lanes_apply(const Scaled& scaled, const ChainResult& result, bool wide) {
  return !scaled.has_zero && !scaled.has_least && result.filtered == nullptr && (wide || result.start != nullptr);
}

template <int S>
class Lanes {
  static_assert(S >= 2 && S <= 8);

 public:
  Lanes(const ChainRequest& request, const Scaled& scaled, const ChainResult& result, std::int64_t longest)
      : request_(request), scaled_(scaled), result_(result) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) terms_.emplace_back(request, scaled, std::max<std::int64_t>(longest, 1));
    if (!result.only_forward()) alpha_.resize(static_cast<std::size_t>(longest) * S * kLanes);
    if (result.transition != nullptr) follows_.assign(S * S * kLanes, 0.0);
    if (result.emission != nullptr && request.codes != nullptr) emission_.assign(request.terms * scaled.width, 0.0);
  }

  // False if one of the sequences needs these checks; nothing of them was counted then.
  BAYESBOX_INLINE bool run(const Pack& pack) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) terms_[lane].begin(pack.begin[lane], pack.steps[lane]);
    if (!forward(pack)) return false;
    if (!result_.only_forward()) backward(pack);
    return true;
  }

  void finish() {
    for (std::size_t k = 0; k < S && result_.start != nullptr; ++k) result_.start[k] += total(start_[k]);
    for (std::size_t i = 0; i < S && result_.transition != nullptr; ++i)
      for (std::size_t j = 0; j < S; ++j)
        result_.transition[i * S + j] +=
            total(load(follows_.data() + (i * S + j) * kLanes)) * scaled_.forward[i * scaled_.width + j];
    for (std::size_t d = 0; !emission_.empty() && d < request_.terms; ++d)
      for (std::size_t k = 0; k < S; ++k) result_.emission[d * S + k] += emission_[d * scaled_.width + k];
  }

 private:
  static constexpr double kNothing[8] = {1, 1, 1, 1, 1, 1, 1, 1};  // the row of a lane at its end: it changes nothing

  static double total(const Four& x) { return (x[0] + x[2]) + (x[1] + x[3]); }
  // The sum over states as it is made of one sequence's vector.
  BAYESBOX_INLINE static Four sum_over_states(const Four* x) {
    Four four[4];
    for (int k = 0; k < 4; ++k) {
      four[k] = k < S ? x[k] : all(0.0);
      if (k + 4 < S) four[k] += x[k + 4];
    }
    return (four[0] + four[2]) + (four[1] + four[3]);
  }
  // out = sum over i of x[i] * rows[i], in the order of `times`.
  BAYESBOX_INLINE void product(const Four* x, const std::vector<double>& rows, Four* out) const {
    for (std::size_t j = 0; j < S; ++j) {
      Four even = x[0] * all(rows[j]), odd = x[1] * all(rows[scaled_.width + j]);
      for (std::size_t i = 2; i < S; i += 2) even += x[i] * all(rows[i * scaled_.width + j]);
      for (std::size_t i = 3; i < S; i += 2) odd += x[i] * all(rows[i * scaled_.width + j]);
      out[j] = even + odd;
    }
  }
  // The terms of a step of each lane; lanes before `idle` have none.
  BAYESBOX_INLINE std::array<StepTerms, kLanes> terms(const Pack& pack, std::int64_t t, std::size_t idle) {
    std::array<StepTerms, kLanes> found;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      found[lane] = lane < idle ? StepTerms{kNothing, 0.0} : terms_[lane](pack.begin[lane] + t);
    return found;
  }
  BAYESBOX_INLINE static void take_rows(const std::array<StepTerms, kLanes>& step, Four* out) {
    across<S>({step[0].row, step[1].row, step[2].row, step[3].row}, out);
  }

  BAYESBOX_INLINE bool forward(const Pack& pack) {
    Four now[S] = {}, next[S] = {}, emission[S] = {};
    for (std::size_t k = 0; k < S; ++k) next[k] = all(scaled_.start[k]);
    FourMasks exponents = {};
    Four tops = all(0.0), rest = all(0.0);  // a CarefulSum in each lane
    Four sum = all(1.0);
    std::int64_t t = 0;
    for (std::size_t idle = 0; idle < kLanes; ++idle) {  // the lanes before `idle` are finished
      for (; t < pack.steps[idle]; ++t) {
        if (t > 0) product(now, scaled_.forward, next);
        const std::array<StepTerms, kLanes> step = terms(pack, t, idle);
        take_rows(step, emission);
        for (std::size_t k = 0; k < S; ++k) now[k] = next[k] * emission[k];
        const Four top = {step[0].top, step[1].top, step[2].top, step[3].top};
        const Four added = tops + top, back = added - tops;
        rest += (tops - (added - back)) + (top - back);
        tops = added;
        sum = sum_over_states(now);
        if (__builtin_expect(any(~(sum >= all(kRescale))), 0)) {
          if (any(~(sum >= all(kTooSmall)))) return false;
          exponents += rescaled(now, sum);
        }
        if (!alpha_.empty())
          for (std::size_t k = 0; k < S; ++k) store(alpha(t) + k * kLanes, now[k]);
      }
      CarefulSum own;
      own.sum = tops[idle], own.rest = rest[idle];
      result_.log_likelihood[pack.sequence[idle]] =
          static_cast<double>(exponents[idle]) * kLogTwo + portable::log(sum[idle]) + own.value();
    }
    return true;
  }

  double* alpha(std::int64_t t) { return alpha_.data() + static_cast<std::size_t>(t) * S * kLanes; }

  // Rescales the lanes whose sum got small to [0.5, 1); returns the exponents that were removed.
  BAYESBOX_INLINE static FourMasks rescaled(Four* x, Four& sum, Four* also = nullptr) {
    FourMasks exponents = {};
    Four factor = all(1.0);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (sum[lane] >= kRescale) continue;
      int exponent = 0;
      sum[lane] = std::frexp(sum[lane], &exponent);
      exponents[lane] = exponent;
      factor[lane] = power_of_two(-exponent);
    }
    for (std::size_t k = 0; k < S; ++k) {
      x[k] *= factor;
      if (also != nullptr) also[k] *= factor;
    }
    return exponents;
  }

  BAYESBOX_INLINE void backward(const Pack& pack) {
    Four beta[S], weighted[S] = {}, before[S] = {}, emission[S] = {};
    for (std::size_t k = 0; k < S; ++k) beta[k] = all(1.0);
    for (std::size_t left = kLanes; left > 0; --left) {
      // The lanes from `idle` have steps from here on; those at their last step start.
      const std::size_t idle = left - 1;
      const std::int64_t last = pack.steps[idle] - 1, stop = idle == 0 ? 0 : pack.steps[idle - 1];
      if (last < stop) continue;
      Four busy = all(0.0);
      for (std::size_t lane = idle; lane < kLanes; ++lane) {
        busy[lane] = 1.0;
        if (pack.steps[lane] - 1 == last)
          for (std::size_t k = 0; k < S; ++k) beta[k][lane] = 1.0;
      }
      Four inverse = busy / with_alpha(last, beta);
      for (std::int64_t t = last; t >= stop; --t) {
        take_posterior(pack, t, idle, beta, inverse);
        if (t == 0) return;
        take_rows(terms(pack, t, idle), emission);
        for (std::size_t k = 0; k < S; ++k) weighted[k] = beta[k] * emission[k];
        product(weighted, scaled_.backward, before);
        Four size = sum_over_states(before);
        if (__builtin_expect(any(~(size >= all(kRescale))), 0)) rescaled(before, size, weighted);
        inverse = busy / with_alpha(t - 1, before);
        if (result_.transition != nullptr) add_transitions(alpha(t - 1), weighted, inverse);
        for (std::size_t k = 0; k < S; ++k) beta[k] = before[k];
      }
    }
  }

  BAYESBOX_INLINE Four with_alpha(std::int64_t t, const Four* beta) {
    Four both[S];
    for (std::size_t k = 0; k < S; ++k) both[k] = load(alpha(t) + k * kLanes) * beta[k];
    return sum_over_states(both);
  }

  BAYESBOX_INLINE void add_transitions(const double* alpha, const Four* weighted, const Four& inverse) {
    double* cell = follows_.data();
    for (std::size_t i = 0; i < S; ++i) {
      const Four share = load(alpha + i * kLanes) * inverse;
      for (std::size_t j = 0; j < S; ++j, cell += kLanes) store(cell, load(cell) + share * weighted[j]);
    }
  }

  // Writes the posteriors of a step of each lane.
  BAYESBOX_INLINE void take_posterior(const Pack& pack, std::int64_t t, std::size_t idle, const Four* beta,
                                      const Four& inverse) {
    Four share[(S + 3) / 4 * 4];
    for (std::size_t k = 0; k < S; ++k) {
      const Four p = load(alpha(t) + k * kLanes) * beta[k] * inverse;
      share[k] = p < all(1.0) ? p : all(1.0);
      if (t == 0 && result_.start != nullptr) start_[k] += share[k];
    }
    for (std::size_t k = S; k < (S + 3) / 4 * 4; ++k) share[k] = all(0.0);
    for (std::size_t k = 0; k + 1 < S; k += 4) transpose(share[k], share[k + 1], share[k + 2], share[k + 3]);
    if (S % 4 == 1) transpose(share[S - 1], share[S], share[S + 1], share[S + 2]);
    for (std::size_t lane = idle; lane < kLanes; ++lane) {
      const std::int64_t step = pack.begin[lane] + t;
      if (!emission_.empty()) {
        double* to = emission_.data() + request_.row(step) * scaled_.width;
        for (std::size_t first = 0; first < S; first += 4) store(to + first, load(to + first) + share[first + lane]);
      } else if (result_.emission != nullptr) {
        put(share, lane, result_.emission + request_.row(step) * S);  // each step has a row of its own
      }
      if (result_.posterior != nullptr)
        put(share, lane, result_.posterior + static_cast<std::size_t>(step) * S);
    }
  }
  BAYESBOX_INLINE static void put(const Four* share, std::size_t lane, double* to) {
    for (std::size_t first = 0; first < S; first += 4) {
      if (first + 4 <= S) {
        store(to + first, share[first + lane]);
      } else {
        for (std::size_t k = first; k < S; ++k) to[k] = share[first + lane][k - first];
      }
    }
  }

  const ChainRequest& request_;
  const Scaled& scaled_;
  const ChainResult& result_;
  std::vector<double> alpha_;     // steps x states x lanes
  std::vector<double> follows_;   // states x states x lanes, not yet times the probability of the transition
  std::vector<double> emission_;  // terms x width, where steps share their rows
  std::vector<Terms> terms_;      // of each lane
  Four start_[S] = {};
};

}  // namespace bayesbox::chain
