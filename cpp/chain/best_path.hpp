// The most probable path of each sequence of a chain.
#pragma once

#include <type_traits>

#include "chain/lane_paths.hpp"
#include "chain/packed_path.hpp"
#include "chain/vectors.hpp"
#include "core/interrupt.hpp"

namespace bayesbox::chain {

// The best path of many states: scores are stored a block at a time, and the path is backtracked from them, so that
// ties go to the first state and no table of pointers is needed.
class BestPath {
 public:
  explicit BestPath(const ChainRequest& request)
      : request_(request), shape_(request.states), width_((request.states + kLanes - 1) / kLanes * kLanes) {
    forward_.assign(request.states * width_, kNone);
    for (std::size_t i = 0; i < request.states; ++i)
      std::copy_n(request.log_transition + i * request.states, request.states, forward_.data() + i * width_);
    const auto blocks = static_cast<std::size_t>((request.longest() + kBlock - 1) / kBlock);
    if (request.codes != nullptr) {
      terms_.assign(request.terms * width_, kNone);
      for (std::size_t d = 0; d < request.terms; ++d)
        std::copy_n(request.log_terms + d * request.states, request.states, terms_.data() + d * width_);
    }
    starts_.assign(blocks * width_, kNone);
    scores_.assign(static_cast<std::size_t>(kBlock) * width_, kNone);
  }

  BAYESBOX_INLINE double run(std::int64_t begin, std::int64_t steps, std::int32_t* path) {
    const std::size_t block_steps = static_cast<std::size_t>(kBlock) * width_ * width_ / 2;
    if (steps == 0) return 0.0;
    const std::size_t states = shape_.states();
    const std::int64_t blocks = (steps + kBlock - 1) / kBlock;
    Vector<0> score(width_), next(width_);
    first(begin, score);
    for (std::int64_t block = 0; block < blocks; ++block) {
      poll(block_steps);
      if (block > 0) advance(begin + block * kBlock, score, next);
      keep(score, starts_.data() + static_cast<std::size_t>(block) * width_);
      fill(begin, block, steps, score, next);
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < states; ++k)
      if (score.at(k) > score.at(best)) best = k;
    const double log_p = score.at(best);
    for (std::int64_t block = blocks - 1; block >= 0; --block) {
      poll(block_steps);
      const std::int64_t from = block * kBlock, to = std::min(from + kBlock, steps);
      if (block + 1 < blocks) {  // the scores of the last block are still there
        const double* start = starts_.data() + static_cast<std::size_t>(block) * width_;
        for (std::size_t p = 0; p < shape_.parts(); ++p) score.set(p, load(start + 4 * p));
        fill(begin, block, steps, score, next);
      }
      for (std::int64_t t = to - 1; t >= from; --t) {
        if (t + 1 < steps) best = before(scores_.data() + static_cast<std::size_t>(t - from) * width_, best);
        path[begin + t] = static_cast<std::int32_t>(best);
      }
    }
    return log_p;
  }

 private:
  BAYESBOX_INLINE Four terms(std::int64_t step, std::size_t part) const {
    if (request_.codes != nullptr) return load(terms_.data() + request_.row(step) * width_ + 4 * part);
    const double* row = request_.log_terms + request_.row(step) * request_.states;
    const std::size_t left = shape_.states() - 4 * part;
    if (left >= 4) return load(row + 4 * part);
    const double* from = row + 4 * part;
    return Four{from[0], left > 1 ? from[1] : kNone, left > 2 ? from[2] : kNone, kNone};
  }
  BAYESBOX_INLINE void first(std::int64_t step, Vector<0>& score) {
    for (std::size_t p = 0; p < shape_.parts(); ++p) {
      Four start = all(kNone);
      for (std::size_t k = 0; k < std::min<std::size_t>(4, shape_.states() - 4 * p); ++k)
        start[k] = request_.log_start[4 * p + k];
      score.set(p, start + terms(step, p));
    }
  }
  BAYESBOX_INLINE void advance(std::int64_t step, Vector<0>& score, Vector<0>& next) const {
    for (std::size_t p = 0; p < shape_.parts(); ++p) {
      Four even = all(score.at(0)) + load(forward_.data() + 4 * p), odd = all(kNone);
      for (std::size_t i = 1; i < shape_.states(); i += 2) {
        const Four one = all(score.at(i)) + load(forward_.data() + i * width_ + 4 * p);
        odd = one > odd ? one : odd;
        if (i + 1 < shape_.states()) {
          const Four two = all(score.at(i + 1)) + load(forward_.data() + (i + 1) * width_ + 4 * p);
          even = two > even ? two : even;
        }
      }
      next.set(p, (odd > even ? odd : even) + terms(step, p));
    }
    for (std::size_t p = 0; p < shape_.parts(); ++p) score.set(p, next.get(p));
  }
  BAYESBOX_INLINE void keep(const Vector<0>& score, double* to) const {
    for (std::size_t p = 0; p < shape_.parts(); ++p) store(to + 4 * p, score.get(p));
  }
  // The scores of a block, from that of its first step on.
  BAYESBOX_INLINE void fill(std::int64_t begin, std::int64_t block, std::int64_t steps, Vector<0>& score,
                            Vector<0>& next) {
    const std::int64_t from = block * kBlock, to = std::min(from + kBlock, steps);
    keep(score, scores_.data());
    for (std::int64_t t = from + 1; t < to; ++t) {
      advance(begin + t, score, next);
      keep(score, scores_.data() + static_cast<std::size_t>(t - from) * width_);
    }
  }
  // The first best state before `state`.
  BAYESBOX_INLINE std::size_t before(const double* scores, std::size_t state) const {
    std::size_t best = 0;
    double most = scores[0] + forward_[state];
    for (std::size_t i = 1; i < shape_.states(); ++i) {
      const double score = scores[i] + forward_[i * width_ + state];
      best = score > most ? i : best;
      most = score > most ? score : most;
    }
    return best;
  }

  const ChainRequest& request_;
  Shape<0> shape_;
  std::size_t width_;
  std::vector<double> forward_, terms_, starts_, scores_;
};

template <int S, bool Wide>
BAYESBOX_INLINE void best_paths_of(const ChainRequest& request, double* log_p, std::int32_t* path) {
  const Packs packs(request, S > 0 && Wide);  // without vectors of four, a single path is faster
  if constexpr (S > 0 && Wide)
    if (!packs.packs.empty()) {
      const LanePaths<S> lanes(request);
      for (const Pack& pack : packs.packs) {
        poll(static_cast<std::size_t>(pack.longest()) * S);
        lanes.run(pack, log_p, path);
      }
    }
  std::conditional_t<S == 0, BestPath, PackedPath<S == 0 ? 2 : S>> best(request);
  for (const std::size_t q : packs.alone)
    log_p[q] = best.run(request.offsets[q], request.offsets[q + 1] - request.offsets[q], path);
}

}  // namespace bayesbox::chain
