// Orders in which the variables of a product of tables are summed out, and what they cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"

namespace bayesbox {

// Some variables of a model, by their numbers.
using Scope = std::vector<std::int32_t>;

// log2(2^a + 2^b)
inline double log2_added(double a, double b) {
  const double most = std::max(a, b), least = std::min(a, b);
  return std::isinf(least) ? most : most + portable::log2(1.0 + portable::exp2(least - most));
}

struct Elimination {
  std::vector<std::int32_t> order;
  std::vector<Scope> neighbours;  // of each variable of the order, when its turn comes
  double log2_cells = -std::numeric_limits<double>::infinity();  // of all tables together
  bool complete = true;
};

enum class Heuristic { min_size, min_fill, weighted_min_fill };

// A graph that loses one variable after another; a row of bits a variable.
class Eliminator {
 public:
  static constexpr std::int32_t kKept = -1;

  // stage: variables of stage 0 go first, then those of stage 1, ...; kKept ones never.
  Eliminator(const std::vector<std::int64_t>& cards, const std::vector<Scope>& scopes, std::vector<std::int32_t> stage)
      : words_((cards.size() + 63) / 64), stage_(std::move(stage)), rows_(cards.size() * words_),
        sizes_(cards.begin(), cards.end()), log2_(cards.size()) {
    for (std::size_t v = 0; v < cards.size(); ++v) log2_[v] = portable::log2(static_cast<double>(cards[v]));
    for (const Scope& scope : scopes)
      for (const std::int32_t a : scope)
        for (const std::int32_t b : scope)
          if (a != b) set(rows_, a, b);
  }

  // The best order of three heuristics and, where tables are large, of a sweep through the variables in their own order
  // and of some more that stray a little from the second heuristic. Work is counted in words of bits, so that the result is always the same.
  Elimination best() const {
    std::uint64_t work = 0;
    Elimination found = run(Heuristic::min_size, std::numeric_limits<double>::infinity(), work, kUnlimited);
    for (const Heuristic heuristic : {Heuristic::min_fill, Heuristic::weighted_min_fill}) {
      if (found.log2_cells < kGoodEnough) break;
      Elimination other = run(heuristic, found.log2_cells, work, kBudget);
      if (other.complete && other.log2_cells < found.log2_cells) found = std::move(other);
    }
    if (found.log2_cells > kLarge) {
      Elimination other = swept(found.log2_cells);
      if (other.complete && other.log2_cells < found.log2_cells) found = std::move(other);
    }
    if (found.log2_cells > kHopeless) return found;
    const double allowed = portable::exp2(std::min(found.log2_cells, 40.0)) / kCellsAWord;
    const auto own = static_cast<double>(stage_.size() * stage_.size());
    double spent = own;
    for (std::uint64_t trial = 1; trial <= kMostTrials && found.log2_cells > kLarge && spent < allowed; ++trial) {
      std::uint64_t more = 0;
      Elimination other = run(Heuristic::min_fill, found.log2_cells, more, kBudget, trial);
      if (other.complete && other.log2_cells < found.log2_cells) found = std::move(other);
      spent += own + static_cast<double>(more);
    }
    return found;
  }

 private:
  using Bits = std::vector<std::uint64_t>;
  static constexpr double kGoodEnough = 13.0;  // 8192 cells: a better order would save less than it costs
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kBudget = 300'000'000;
  static constexpr double kLarge = 18.0;       // a quarter of a million cells: worth some trials
  static constexpr double kHopeless = 60.0;    // no trial saves so much
  static constexpr std::uint64_t kMostTrials = 50;
  static constexpr double kCellsAWord = 16.0;  // of the tables, that are worth a word of work on a better order

  void set(Bits& rows, std::int32_t a, std::int32_t b) const {
    rows[static_cast<std::size_t>(a) * words_ + static_cast<std::size_t>(b) / 64] |= std::uint64_t{1} << (b % 64);
  }
  const std::uint64_t* row(const Bits& rows, std::int32_t v) const {
    return rows.data() + static_cast<std::size_t>(v) * words_;
  }
  template <class Visit>
  static void each(const std::uint64_t* bits, std::size_t words, Visit visit) {
    for (std::size_t w = 0; w < words; ++w)
      for (std::uint64_t rest = bits[w]; rest != 0; rest &= rest - 1)
        visit(static_cast<std::int32_t>(w * 64) + std::countr_zero(rest));
  }

  double score(const Bits& rows, std::int32_t v, Heuristic heuristic, std::uint64_t& work) const {
    const std::uint64_t* mine = row(rows, v);
    double size = log2_[static_cast<std::size_t>(v)], fill = 0;
    each(mine, words_, [&](std::int32_t u) { size += log2_[static_cast<std::size_t>(u)]; });
    work += words_;
    if (heuristic == Heuristic::min_size) return size;
    each(mine, words_, [&](std::int32_t u) {
      const std::uint64_t* theirs = row(rows, u);
      work += words_;
      const double own = sizes_[static_cast<std::size_t>(u)];
      for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t lacking = mine[w] & ~theirs[w];
        if (w == static_cast<std::size_t>(u) / 64) lacking &= ~(std::uint64_t{1} << (u % 64));
        if (heuristic == Heuristic::min_fill) {
          fill += std::popcount(lacking);
        } else {
          for (; lacking != 0; lacking &= lacking - 1)
            fill += own * sizes_[w * 64 + static_cast<std::size_t>(std::countr_zero(lacking))];
        }
      }
    });
    return fill + size * 1e-3;  // the smaller of two that need equally many new edges
  }

  // Stops, incomplete, where the cells pass the bound or the work its limit. A trial that is not 0 strays from the
  // heuristic: each score is made larger by chance, up to twice.
  Elimination run(Heuristic heuristic, double bound, std::uint64_t& work, std::uint64_t limit,
                  std::uint64_t trial = 0) const {
    Random random(trial);
    Elimination found;
    Bits rows = rows_;
    std::vector<double> scores(stage_.size());
    std::vector<char> stale(stage_.size(), 1);
    std::int32_t last_stage = -1;
    for (const std::int32_t stage : stage_) last_stage = std::max(last_stage, stage);
    for (std::int32_t stage = 0; stage <= last_stage; ++stage) {
      std::vector<std::int32_t> alive;
      for (std::size_t v = 0; v < stage_.size(); ++v)
        if (stage_[v] == stage) alive.push_back(static_cast<std::int32_t>(v));
      while (!alive.empty()) {
        std::size_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < alive.size(); ++i) {
          const auto v = static_cast<std::size_t>(alive[i]);
          if (stale[v]) {
            scores[v] = degree_at_most_one(rows, alive[i]) ? -1.0 : score(rows, alive[i], heuristic, work);
            if (trial != 0) scores[v] *= 1.0 + random.uniform();
            stale[v] = 0;
            poll(8 * words_ * (heuristic == Heuristic::min_size ? 1 : words_));
          }
          if (scores[v] < least) {
            least = scores[v];
            best = i;
            if (least < 0) break;  // a leaf: nothing is better
          }
        }
        poll(4 * alive.size() + words_ * words_);
        const std::int32_t v = alive[best];
        alive[best] = alive.back();
        alive.pop_back();
        eliminate(rows, v, heuristic, stale, found);
        if (found.log2_cells > bound || work > limit) {
          found.complete = false;
          return found;
        }
      }
    }
    return found;
  }

  // In the order of the variables, each after those of its neighbours that bring at most one new neighbour besides. Models
  // that are long and narrow when taken in their own order, as of chains that run side by side with what joins them, need
  // no more than what lies between two variables, where greedy orders begin everywhere at once.
  Elimination swept(double bound) const {
    Elimination found;
    Bits rows = rows_, known(words_, 0);  // of those gone, and those joined to them
    std::vector<char> stale(stage_.size(), 1), gone(stage_.size(), 0);
    const auto take = [&](std::int32_t v) {
      gone[static_cast<std::size_t>(v)] = 1;
      set(known, 0, v);
      for (std::size_t w = 0; w < words_; ++w) known[w] |= row(rows_, v)[w];
      eliminate(rows, v, Heuristic::min_size, stale, found);
      poll(words_ * words_);
      found.complete = found.complete && found.log2_cells <= bound;
    };
    std::int32_t last_stage = -1;
    for (const std::int32_t stage : stage_) last_stage = std::max(last_stage, stage);
    for (std::int32_t stage = 0; stage <= last_stage; ++stage) {
      for (std::size_t v = 0; v < stage_.size() && found.complete; ++v) {
        if (stage_[v] != stage || gone[v]) continue;
        const auto pivot = static_cast<std::int32_t>(v);
        Scope before;
        each(row(rows_, pivot), words_, [&](std::int32_t u) {
          if (stage_[static_cast<std::size_t>(u)] == stage && !gone[static_cast<std::size_t>(u)]) before.push_back(u);
        });
        for (const std::int32_t u : before) {
          int more = 0;
          for (std::size_t w = 0; w < words_; ++w) more += std::popcount(row(rows_, u)[w] & ~known[w]);
          more -= (known[v / 64] >> (v % 64) & 1) == 0;
          if (more <= 1 && found.complete) take(u);
        }
        if (found.complete) take(pivot);
      }
    }
    return found;
  }

  bool degree_at_most_one(const Bits& rows, std::int32_t v) const {
    const std::uint64_t* mine = row(rows, v);
    int degree = 0;
    for (std::size_t w = 0; w < words_ && degree < 2; ++w) degree += std::popcount(mine[w]);
    return degree < 2;
  }

  void eliminate(Bits& rows, std::int32_t v, Heuristic heuristic, std::vector<char>& stale, Elimination& found) const {
    Scope neighbours;
    double size = log2_[static_cast<std::size_t>(v)];
    each(row(rows, v), words_, [&](std::int32_t u) {
      neighbours.push_back(u);
      size += log2_[static_cast<std::size_t>(u)];
    });
    const Bits mine(row(rows, v), row(rows, v) + words_);
    for (const std::int32_t u : neighbours) {
      std::uint64_t* theirs = rows.data() + static_cast<std::size_t>(u) * words_;
      bool filled = false;
      for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t wanted = mine[w];
        if (w == static_cast<std::size_t>(u) / 64) wanted &= ~(std::uint64_t{1} << (u % 64));
        filled = filled || (wanted & ~theirs[w]) != 0;
        theirs[w] |= wanted;
      }
      theirs[static_cast<std::size_t>(v) / 64] &= ~(std::uint64_t{1} << (v % 64));
      stale[static_cast<std::size_t>(u)] = 1;
      if (filled && heuristic != Heuristic::min_size)
        each(theirs, words_, [&](std::int32_t t) { stale[static_cast<std::size_t>(t)] = 1; });
    }
    found.log2_cells = log2_added(found.log2_cells, size);
    found.order.push_back(v);
    found.neighbours.push_back(std::move(neighbours));
  }

  std::size_t words_;
  std::vector<std::int32_t> stage_;
  Bits rows_;
  std::vector<double> sizes_;
  std::vector<double> log2_;
};

}  // namespace bayesbox
