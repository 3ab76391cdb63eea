// log P(sequence) of a long sequence: forward over its first half and backward over its second, which meet.
//
// A sequence that may be in a pack has the bits of a pack, and one with impossible transitions the checks of the
// recursion of a single sequence.
#pragma once

#include "chain/both_ways.hpp"
#include "chain/packs.hpp"
#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox::chain {

template <int S, template <int> class Short>
class Likelihood {
 public:
  Likelihood(const ChainRequest& request, const Scaled& scaled, const ChainResult& result)
      : request_(request), scaled_(scaled), result_(result), short_(request, scaled, result),
        forward_terms_(request, scaled, kBlock), backward_terms_(request, scaled, kBlock) {}

  // False if the sequence must be computed in logarithms.
  BAYESBOX_INLINE bool run(std::size_t sequence) {
    const std::int64_t begin = request_.offsets[sequence], steps = request_.offsets[sequence + 1] - begin;
    if (steps <= kShort || scaled_.has_zero) return short_.run(sequence);
    return meet(begin, steps, result_.log_likelihood[sequence]);
  }
  void finish() const {}  // there are no counts

 private:
  BAYESBOX_INLINE bool meet(std::int64_t begin, std::int64_t steps, double& log_likelihood) {
    forward_terms_.begin(begin, steps), backward_terms_.begin(begin, steps);
    BothWays<S> ways(request_, scaled_);
    CarefulSum tops, tops_back;
    const std::int64_t last = begin + steps - 1, half = steps / 2;
    for (std::int64_t n = 0; n < half; ++n) {
      poll_at(static_cast<std::size_t>(n), 2 * scaled_.width);
      if (!step_forward(ways, begin + n, tops)) return false;
      ways.go_on();
      const StepTerms terms = backward_terms_(last - n);
      tops_back.add(terms.top);
      if (!ways.backward(terms)) return false;
    }
    if (steps % 2 == 1 && !step_forward(ways, begin + half, tops)) return false;  // the step in the middle
    Vector<S> both(scaled_.width);
    for (std::size_t p = 0; p < ways.shape.parts(); ++p) both.set(p, ways.alpha.get(p) * ways.beta.get(p));
    const double sum = sum_of<S>(both, ways.shape);
    if (!(sum >= kTooSmall)) return false;
    tops.add(tops_back.sum), tops.add(tops_back.rest);
    log_likelihood =
        static_cast<double>(ways.exponents + ways.exponents_back) * kLogTwo + portable::log(sum) + tops.value();
    return true;
  }

  BAYESBOX_INLINE bool step_forward(BothWays<S>& ways, std::int64_t step, CarefulSum& tops) {
    const StepTerms terms = forward_terms_(step);
    tops.add(terms.top);
    return ways.template forward<false>(step, terms);
  }

  const ChainRequest& request_;
  const Scaled& scaled_;
  const ChainResult& result_;
  Short<S> short_;
  Terms forward_terms_, backward_terms_;
};

}  // namespace bayesbox::chain
