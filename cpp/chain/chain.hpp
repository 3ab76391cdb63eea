// Hidden Markov chains: log-likelihood, posteriors, expected counts and the best path, for many sequences in one call.
//
// The emission terms are rows of log P(step | state). A step names its row by a code, so that a chain of a few symbols
// holds a few rows only. Each row is scaled by its own largest term, and the running vectors by powers of two, which is
// exact: the scale is a sum of integers. If a scaled number that may still matter would get too small, the sequence is
// computed again in logarithms, so that only impossible sequences give -inf, and nothing is ever NaN.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// The outputs; a null pointer is an output that is not requested. An impossible sequence adds to no count, and its rows
// are zeros.
struct ChainResult {
  double* log_likelihood = nullptr;  // sequences
  double* filtered = nullptr;        // steps x states: P(state | steps so far)
  double* posterior = nullptr;       // steps x states: P(state | the whole sequence)
  double* start = nullptr;           // states
  double* transition = nullptr;      // states x states
  double* emission = nullptr;        // terms x states

  bool only_forward() const { return posterior == nullptr && start == nullptr; }
  bool only_likelihood() const { return only_forward() && filtered == nullptr; }
  bool only_posterior() const { return posterior != nullptr && start == nullptr && filtered == nullptr; }
};

// Forward and, on request, backward over every sequence.
void forward_backward(const ChainRequest& request, const ChainResult& result, std::size_t threads = 1);

// The most probable path of every sequence and the log of its joint probability; ties go to the first state.
void best_paths(const ChainRequest& request, double* log_p, std::int32_t* path, std::size_t threads = 1);

}  // namespace bayesbox
