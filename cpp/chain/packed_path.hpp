// The most probable path of each sequence of a chain of few states.
#pragma once

#include "chain/vectors.hpp"
#include "core/interrupt.hpp"

namespace bayesbox::chain {

// Max instead of sum, in logarithms. Which state comes before each state of a step is kept in the place where the path
// will stand, three bits for each, so that no other memory is needed; the way back replaces it. Ties go to the first
// state.
template <int S>
class PackedPath {
  static_assert(S >= 2 && S <= 8);
  static constexpr std::size_t kParts = (S + 3) / 4;
  static constexpr std::int32_t kBits = 3, kMask = (1 << kBits) - 1;
  static constexpr std::int64_t kStepsAPoll = 4096;
  typedef std::int64_t FourNames __attribute__((vector_size(32)));

 public:
  explicit PackedPath(const ChainRequest& request) : request_(request) {
    for (std::size_t p = 0; p < kParts; ++p) {
      start_[p] = row_of(request.log_start, p);
      for (std::size_t i = 0; i < S; ++i) {
        forward_[i][p] = row_of(request.log_transition + i * S, p);
        for (std::size_t k = 0; k < 4; ++k)
          name_[i][p][k] = 4 * p + k < S ? static_cast<std::int64_t>(i) << (kBits * (4 * p + k)) : 0;
      }
    }
    if (request.codes == nullptr) return;
    terms_.assign(request.terms * 4 * kParts, kNone);
    for (std::size_t d = 0; d < request.terms; ++d)
      std::copy_n(request.log_terms + d * S, S, terms_.data() + d * 4 * kParts);
  }

  BAYESBOX_INLINE double run(std::int64_t begin, std::int64_t steps, std::int32_t* path) const {
    if (steps == 0) return 0.0;
    Four score[kParts];
    for (std::size_t p = 0; p < kParts; ++p) score[p] = start_[p] + terms(begin, p);
    for (std::int64_t t = begin + 1, end = begin + steps; t < end;) {
      const std::int64_t stop = std::min(t + kStepsAPoll, end);
      poll(static_cast<std::size_t>(kStepsAPoll * S));
      for (; t < stop; ++t) path[t] = advance(t, score);
    }
    std::int32_t best = 0;
    for (std::int32_t k = 1; k < S; ++k)
      if (score[k / 4][k % 4] > score[best / 4][best % 4]) best = k;
    const double log_p = score[best / 4][best % 4];
    for (std::int64_t t = begin + steps - 1; t > begin; --t) {
      const std::int32_t names = path[t];
      path[t] = best;
      best = (names >> (kBits * best)) & kMask;
    }
    path[begin] = best;
    return log_p;
  }

 private:
  static Four row_of(const double* row, std::size_t part) {
    Four four = all(kNone);
    for (std::size_t k = 0; k < 4 && 4 * part + k < S; ++k) four[k] = row[4 * part + k];
    return four;
  }
  BAYESBOX_INLINE Four terms(std::int64_t step, std::size_t part) const {
    if (request_.codes != nullptr) return load(terms_.data() + (request_.row(step) * kParts + part) * 4);
    const double* from = request_.log_terms + request_.row(step) * S + 4 * part;
    const std::size_t left = S - 4 * part;
    if (left >= 4) return load(from);
    return Four{from[0], left > 1 ? from[1] : kNone, left > 2 ? from[2] : kNone, kNone};
  }

  struct Choice {
    Four score;
    FourNames name;
  };
  // The better of two, the first where they are equal.
  BAYESBOX_INLINE static Choice better(const Choice& first, const Choice& second) {
    const FourNames is_second = second.score > first.score;
    return {is_second ? second.score : first.score, is_second ? second.name : first.name};
  }
  BAYESBOX_INLINE Choice coming_from(const Four* score, std::size_t state, std::size_t part) const {
    return {all(score[state / 4][state % 4]) + forward_[state][part], name_[state][part]};
  }
  // The best of the states from First to before Stop, in halves, so that few comparisons wait for one another.
  template <std::size_t First, std::size_t Stop>
  BAYESBOX_INLINE Choice best_of(const Four* score, std::size_t part) const {
    if constexpr (Stop - First == 1) {
      return coming_from(score, First, part);
    } else {
      constexpr std::size_t middle = First + (Stop - First + 1) / 2;
      return better(best_of<First, middle>(score, part), best_of<middle, Stop>(score, part));
    }
  }
  // The scores of the next step; gives the states before, packed.
  BAYESBOX_INLINE std::int32_t advance(std::int64_t step, Four* score) const {
    Four next[kParts];
    FourNames names = {};
    for (std::size_t p = 0; p < kParts; ++p) {
      const Choice choice = best_of<0, S>(score, p);
      next[p] = choice.score + terms(step, p);
      names |= choice.name;
    }
    for (std::size_t p = 0; p < kParts; ++p) score[p] = next[p];
    return static_cast<std::int32_t>((names[0] | names[2]) | (names[1] | names[3]));
  }

  const ChainRequest& request_;
  Four start_[kParts];
  Four forward_[S][kParts];
  FourNames name_[S][kParts];
  std::vector<double> terms_;
};

}  // namespace bayesbox::chain
