// The scaled terms of the steps of one sequence.
//
// If steps share their rows, these are scaled once for all. If each step has its own row, the rows of a block of steps
// are scaled on request, so that a long sequence needs no additional memory.
#pragma once

#include "chain/vectors.hpp"

namespace bayesbox::chain {

struct StepTerms {
  const double* row;  // P(step | state) / top, padded with zeros
  double top;         // log
};

class Terms {
 public:
  Terms(const ChainRequest& request, const Scaled& scaled, std::int64_t block)
      : request_(request), scaled_(scaled), block_(block) {
    if (request.codes == nullptr) held_ = ScaledRows(request, static_cast<std::size_t>(block));
  }

  // The current sequence: blocks are counted from its first step.
  void begin(std::int64_t begin, std::int64_t steps) {
    if (begin == begin_ && begin + steps == end_) return;
    begin_ = first_ = stop_ = begin;
    end_ = begin + steps;
  }

  BAYESBOX_INLINE StepTerms operator()(std::int64_t step) {
    if (request_.codes != nullptr) {
      const auto row = static_cast<std::size_t>(request_.codes[step]);
      return {scaled_.shared.rows.data() + row * scaled_.width, scaled_.shared.top[row]};
    }
    if (__builtin_expect(step < first_ || step >= stop_, 0)) make(step);
    const auto place = static_cast<std::size_t>(step - first_);
    return {held_.rows.data() + place * scaled_.width, held_.top[place]};
  }

 private:
  __attribute__((noinline)) void make(std::int64_t step) {
    first_ = begin_ + (step - begin_) / block_ * block_;
    stop_ = std::min(first_ + block_, end_);
    held_.make(request_, static_cast<std::size_t>(first_), static_cast<std::size_t>(stop_ - first_));
  }

  const ChainRequest& request_;
  const Scaled& scaled_;
  std::int64_t block_, begin_ = -1, end_ = -1, first_ = 0, stop_ = 0;
  ScaledRows held_;
};

}  // namespace bayesbox::chain
