// One sequence from both ends: forward from the first step and backward from the last, side by side.
//
// Each recursion waits for its own last step, so the two together take hardly longer than one.
#pragma once

#include "chain/terms.hpp"
#include "chain/vectors.hpp"

namespace bayesbox::chain {

template <int S>
struct BothWays {
  BothWays(const ChainRequest& request, const Scaled& scaled)
      : request(request), scaled(scaled), shape(request.states), alpha(scaled.width), ahead(scaled.width),
        beta(scaled.width), weighted(scaled.width) {
    for (std::size_t p = 0; p < shape.parts(); ++p) {
      ahead.set(p, load(scaled.start.data() + 4 * p));
      beta.set(p, all(1.0));
    }
  }

  // alpha = ahead times the terms of the step. False if digits may be lost.
  template <bool Zeros>
  BAYESBOX_INLINE bool forward(std::int64_t step, const StepTerms& terms) {
    for (std::size_t p = 0; p < shape.parts(); ++p) alpha.set(p, ahead.get(p) * load(terms.row + 4 * p));
    sum = sum_of<S>(alpha, shape);
    if (__builtin_expect(!(sum >= kRescale), 0)) {
      if (!(sum >= kTooSmall)) return false;
      exponents += rescale<S>(alpha, shape, sum);
    }
    if constexpr (Zeros)
      for (std::size_t k = 0; k < shape.states(); ++k)
        if (alpha.at(k) < kLost && ahead.at(k) > 0 && request.log_terms[request.row(step) * scaled.states + k] != kNone)
          return false;
    return true;
  }
  // ahead, of the next step.
  BAYESBOX_INLINE void go_on() { times<S>(alpha, scaled.forward.data(), scaled.width, shape, ahead); }

  // beta of the step before. False if digits may be lost.
  BAYESBOX_INLINE bool backward(const StepTerms& terms) {
    for (std::size_t p = 0; p < shape.parts(); ++p) weighted.set(p, beta.get(p) * load(terms.row + 4 * p));
    times<S>(weighted, scaled.backward.data(), scaled.width, shape, beta);
    double size = sum_of<S>(beta, shape);
    if (__builtin_expect(!(size >= kRescale), 0)) {
      if (!(size >= kTooSmall)) return false;
      exponents_back += rescale<S>(beta, shape, size);
    }
    return true;
  }

  const ChainRequest& request;
  const Scaled& scaled;
  Shape<S> shape;
  Vector<S> alpha, ahead, beta, weighted;
  double sum = 0;                                   // of alpha
  std::int64_t exponents = 0, exponents_back = 0;  // removed from alpha and from beta
};

}  // namespace bayesbox::chain
