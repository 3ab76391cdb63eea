// Forward and backward in logarithms throughout: for sequences that the scaled recursion cannot guarantee.
#pragma once

#include "chain/vectors.hpp"
#include "core/functions.hpp"
#include "core/interrupt.hpp"

namespace bayesbox::chain {

// As in the scaled recursion, the vectors of one block of steps are stored, and the first one of every block.
class LogRecursion {
 public:
  LogRecursion(const ChainRequest& request, const ChainResult& result) : request_(request), result_(result) {}

  void run(std::size_t sequence) {
    const std::size_t S = request_.states;
    const std::int64_t begin = request_.offsets[sequence], steps = request_.offsets[sequence + 1] - begin;
    ways_.resize(S);
    alpha_.resize(static_cast<std::size_t>(std::min(kBlock, steps)) * S);
    starts_.resize(static_cast<std::size_t>((steps + kBlock - 1) / kBlock) * S);
    double total = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      double* now = alpha(t);
      advance(begin, t, t == 0 ? nullptr : alpha(t - 1), now);
      if (t % kBlock == 0) std::copy_n(now, S, start_of(t));
      total = log_of_sum(now, S);
      if (total == kNone) break;
      if (result_.filtered != nullptr)
        for (std::size_t k = 0; k < S; ++k)
          result_.filtered[static_cast<std::size_t>(begin + t) * S + k] = portable::exp(now[k] - total);
    }
    result_.log_likelihood[sequence] = total;
    if (total == kNone) {
      for (double* rows : {result_.filtered, result_.posterior})
        if (rows != nullptr)
          std::fill_n(rows + static_cast<std::size_t>(begin) * S, static_cast<std::size_t>(steps) * S, 0.0);
      return;
    }
    if (!result_.only_forward()) backward(begin, steps, total);
  }

 private:
  double* alpha(std::int64_t t) { return alpha_.data() + static_cast<std::size_t>(t % kBlock) * request_.states; }
  double* start_of(std::int64_t t) { return starts_.data() + static_cast<std::size_t>(t / kBlock) * request_.states; }

  // The vector of a step from that of the step before.
  void advance(std::int64_t begin, std::int64_t t, const double* last, double* now) {
    const std::size_t S = request_.states;
    const double* terms = request_.log_terms + request_.row(begin + t) * S;
    poll(16 * S * S);
    if (t == 0) {
      for (std::size_t j = 0; j < S; ++j) now[j] = request_.log_start[j] + terms[j];
      return;
    }
    before_.assign(last, last + S);  // the block restarts at its first step
    for (std::size_t j = 0; j < S; ++j) {
      for (std::size_t i = 0; i < S; ++i) ways_[i] = before_[i] + request_.log_transition[i * S + j];
      now[j] = log_of_sum(ways_.data(), S) + terms[j];
    }
  }
  // Recomputes the block that ends before step `stop`: the same operations, the same bits.
  void fill(std::int64_t begin, std::int64_t stop) {
    const std::int64_t first = (stop - 1) / kBlock * kBlock;
    std::copy_n(start_of(first), request_.states, alpha(first));
    for (std::int64_t t = first + 1; t < stop; ++t) advance(begin, t, alpha(t - 1), alpha(t));
  }

  void backward(std::int64_t begin, std::int64_t steps, double total) {
    const std::size_t S = request_.states;
    std::vector<double> beta(S, 0.0), weighted(S), before(S);
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      const double* now = alpha(t);
      const std::size_t row = request_.row(begin + t);
      for (std::size_t k = 0; k < S; ++k) {
        const double p = std::min(portable::exp(now[k] + beta[k] - total), 1.0);
        if (result_.posterior != nullptr) result_.posterior[static_cast<std::size_t>(begin + t) * S + k] = p;
        if (result_.emission != nullptr) result_.emission[row * S + k] += p;
        if (t == 0 && result_.start != nullptr) result_.start[k] += p;
      }
      if (t == 0) return;
      poll(16 * S * S);
      if (t % kBlock == 0) fill(begin, t);
      const double* last = alpha(t - 1);
      for (std::size_t k = 0; k < S; ++k) weighted[k] = beta[k] + request_.log_terms[row * S + k];
      for (std::size_t i = 0; i < S; ++i) {
        for (std::size_t j = 0; j < S; ++j) ways_[j] = request_.log_transition[i * S + j] + weighted[j];
        if (result_.transition != nullptr)
          for (std::size_t j = 0; j < S; ++j)
            result_.transition[i * S + j] += std::min(portable::exp(last[i] + ways_[j] - total), 1.0);
        before[i] = log_of_sum(ways_.data(), S);
      }
      beta.swap(before);
    }
  }

  const ChainRequest& request_;
  const ChainResult& result_;
  std::vector<double> alpha_;   // of one block of steps
  std::vector<double> starts_;  // of the first step of each block
  std::vector<double> ways_, before_;
};

}  // namespace bayesbox::chain
