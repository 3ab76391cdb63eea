// P(state | the whole sequence) of every step: forward from the first step and backward from the last at once.
//
// Up to the middle each stores its vectors in the rows of the result; from there on it finds the other's vector in each
// row, and the row becomes the posterior. No other memory is needed, and nothing is recomputed.
#pragma once

#include "chain/both_ways.hpp"
#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox::chain {

template <int S>
class Meeting {
 public:
  Meeting(const ChainRequest& request, const Scaled& scaled, const ChainResult& result)
      : request_(request), scaled_(scaled), result_(result), shape_(request.states),
        forward_terms_(request, scaled, kBlock), backward_terms_(request, scaled, kBlock) {}

  // False if the sequence must be computed in logarithms, which rewrites all its rows.
  BAYESBOX_INLINE bool run(std::size_t sequence) {
    const std::int64_t begin = request_.offsets[sequence], steps = request_.offsets[sequence + 1] - begin;
    result_.log_likelihood[sequence] = 0;
    if (steps == 0) return true;
    return scaled_.has_zero ? meet<true>(begin, steps, result_.log_likelihood[sequence])
                            : meet<false>(begin, steps, result_.log_likelihood[sequence]);
  }
  void finish() const {}  // there are no counts

 private:
  template <bool Zeros>
  BAYESBOX_INLINE bool meet(std::int64_t begin, std::int64_t steps, double& log_likelihood) {
    forward_terms_.begin(begin, steps), backward_terms_.begin(begin, steps);
    BothWays<S> ways(request_, scaled_);
    CarefulSum tops;
    const auto forward = [&](std::int64_t step) __attribute__((always_inline)) {
      const StepTerms terms = forward_terms_(step);
      tops.add(terms.top);
      return ways.template forward<Zeros>(step, terms);
    };
    const std::int64_t last = begin + steps - 1, half = steps / 2;
    for (std::int64_t n = 0; n < half; ++n) {
      poll_at(static_cast<std::size_t>(n), 2 * scaled_.width);
      if (!forward(begin + n)) return false;
      keep(ways.alpha, row(begin + n));
      keep(ways.beta, row(last - n));
      ways.go_on();
      if (!ways.backward(backward_terms_(last - n))) return false;
    }
    if (steps % 2 == 1) {  // the step in the middle
      if (!forward(begin + half)) return false;
      keep(ways.beta, row(begin + half));
      if (!finish(ways.alpha, row(begin + half))) return false;
      if (steps > 1) {
        ways.go_on();
        if (!ways.backward(backward_terms_(begin + half))) return false;
      }
    }
    for (std::int64_t n = steps - half; n < steps; ++n) {
      poll_at(static_cast<std::size_t>(n), 2 * scaled_.width);
      if (!forward(begin + n)) return false;
      if (!finish(ways.alpha, row(begin + n)) || !finish(ways.beta, row(last - n))) return false;
      if (n + 1 == steps) break;
      ways.go_on();
      if (!ways.backward(backward_terms_(last - n))) return false;
    }
    log_likelihood = static_cast<double>(ways.exponents) * kLogTwo + portable::log(ways.sum) + tops.value();
    return true;
  }

  // The row holds the vector of the one side: with that of the other it becomes the posterior.
  BAYESBOX_INLINE bool finish(const Vector<S>& other, double* row) const {
    Four total = all(0.0);
    for (std::size_t p = 0; p < shape_.parts(); ++p) total += other.get(p) * loaded(row, p);
    const double sum = (total[0] + total[2]) + (total[1] + total[3]);
    if (!(sum >= kTooSmall)) return false;
    const Four inverse = all(1.0 / sum), one = all(1.0);
    for (std::size_t p = 0; p < shape_.parts(); ++p) {
      const Four share = other.get(p) * loaded(row, p) * inverse;
      put(share < one ? share : one, row, p);
    }
    return true;
  }

  double* row(std::int64_t step) const { return result_.posterior + static_cast<std::size_t>(step) * scaled_.states; }
  // Rows of the result have no padding: the last part may be less than four states.
  BAYESBOX_INLINE Four loaded(const double* row, std::size_t part) const {
    const std::size_t left = shape_.states() - 4 * part;
    if (left >= 4) return load(row + 4 * part);
    const double* from = row + 4 * part;
    return Four{from[0], left > 1 ? from[1] : 0.0, left > 2 ? from[2] : 0.0, 0.0};
  }
  BAYESBOX_INLINE void put(const Four& values, double* row, std::size_t part) const {
    const std::size_t left = shape_.states() - 4 * part;
    if (left >= 4) {
      store(row + 4 * part, values);
    } else {
      for (std::size_t k = 0; k < left; ++k) row[4 * part + k] = values[k];
    }
  }
  BAYESBOX_INLINE void keep(const Vector<S>& x, double* row) const {
    for (std::size_t p = 0; p < shape_.parts(); ++p) put(x.get(p), row, p);
  }

  const ChainRequest& request_;
  const Scaled& scaled_;
  const ChainResult& result_;
  Shape<S> shape_;
  Terms forward_terms_, backward_terms_;
};

}  // namespace bayesbox::chain
