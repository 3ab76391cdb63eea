// The most probable paths of four short sequences at once, one in each lane of the vectors.
#pragma once

#include "chain/packs.hpp"
#include "chain/vectors.hpp"

namespace bayesbox::chain {

// As PackedPath does it, with the same comparisons, so with the same paths: the states before those of a step stand,
// three bits for each, where the path will be.
template <int S>
class LanePaths {
  static_assert(S >= 2 && S <= 8);
  static constexpr std::int64_t kBits = 3, kMask = (1 << kBits) - 1;
  static constexpr std::size_t kWidth = (S + 3) / 4 * 4;

 public:
  explicit LanePaths(const ChainRequest& request) : request_(request) {
    if (request.codes == nullptr) return;
    terms_.assign(request.terms * kWidth, 0.0);
    for (std::size_t d = 0; d < request.terms; ++d)
      std::copy_n(request.log_terms + d * S, S, terms_.data() + d * kWidth);
  }

  BAYESBOX_INLINE void run(const Pack& pack, double* log_p, std::int32_t* path) const {
    Four score[S] = {}, next[S] = {}, terms[S] = {};
    for (std::size_t k = 0; k < S; ++k) next[k] = all(request_.log_start[k]);
    FourMasks state = {};
    std::int64_t t = 0;
    for (std::size_t idle = 0; idle < kLanes; ++idle) {  // the lanes before `idle` have come to their end
      for (; t < pack.steps[idle]; ++t) {
        if (t > 0) {
          const FourMasks names = advance(score, next);
          for (std::size_t lane = idle; lane < kLanes; ++lane)
            path[pack.begin[lane] + t] = static_cast<std::int32_t>(names[lane]);
        }
        terms_of(pack, t, idle, terms);
        for (std::size_t k = 0; k < S; ++k) score[k] = next[k] + terms[k];
      }
      for (std::int64_t k = 1; k < S; ++k)
        if (score[k][idle] > score[state[idle]][idle]) state[idle] = k;
      log_p[pack.sequence[idle]] = score[state[idle]][idle];
    }
    // The way back of all four at once: each reads where it has just been.
    std::array<std::int64_t, kLanes> at = {state[0], state[1], state[2], state[3]};
    for (std::int64_t back = pack.longest() - 1; back > 0; --back)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        if (back < pack.steps[lane]) {
          std::int32_t& place = path[pack.begin[lane] + back];
          const std::int32_t names = place;
          place = static_cast<std::int32_t>(at[lane]);
          at[lane] = (names >> (kBits * at[lane])) & kMask;
        }
    for (std::size_t lane = 0; lane < kLanes; ++lane) path[pack.begin[lane]] = static_cast<std::int32_t>(at[lane]);
  }

 private:
  BAYESBOX_INLINE void terms_of(const Pack& pack, std::int64_t t, std::size_t idle, Four* out) const {
    const bool padded = request_.codes != nullptr;
    const double* from = padded ? terms_.data() : request_.log_terms;
    std::array<const double*, kLanes> row;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      row[lane] = lane < idle ? nothing_.data() : from + request_.row(pack.begin[lane] + t) * (padded ? kWidth : S);
    if (padded) return across<S>(row, out);
    for (std::size_t k = 0; k < S; ++k) out[k] = Four{row[0][k], row[1][k], row[2][k], row[3][k]};
  }

  struct Choice {
    Four score;
    FourMasks name;
  };
  // The best of the states from First to before Stop, the first where they are equal, in halves.
  template <std::size_t First, std::size_t Stop>
  BAYESBOX_INLINE Choice best_of(const Four* score, std::size_t to) const {
    if constexpr (Stop - First == 1) {
      const auto name = static_cast<std::int64_t>(First << (kBits * to));
      return {score[First] + all(request_.log_transition[First * S + to]), FourMasks{name, name, name, name}};
    } else {
      constexpr std::size_t middle = First + (Stop - First + 1) / 2;
      const Choice first = best_of<First, middle>(score, to), second = best_of<middle, Stop>(score, to);
      const FourMasks is_second = second.score > first.score;
      return {second.score > first.score ? second.score : first.score, is_second ? second.name : first.name};
    }
  }
  BAYESBOX_INLINE FourMasks advance(const Four* score, Four* next) const {
    FourMasks names = {};
    for (std::size_t to = 0; to < S; ++to) {
      const Choice choice = best_of<0, S>(score, to);
      next[to] = choice.score;
      names |= choice.name;
    }
    return names;
  }

  const ChainRequest& request_;
  std::array<double, kWidth> nothing_ = {};  // the row of a lane at its end
  std::vector<double> terms_;                // padded, where steps share their rows
};

}  // namespace bayesbox::chain
