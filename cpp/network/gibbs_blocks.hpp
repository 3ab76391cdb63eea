// Block Gibbs sampling: in each step a large set of hidden variables is drawn together, given all others.
//
// A block is all variables but those whose removal leaves tables of elimination within a limit. Its variables are summed
// out one after another and drawn in the opposite order, from the tables they were summed out of: an exact draw of all
// of them. The variables that one block leaves out are in the next, so that a sweep of two or three blocks changes nearly
// all variables nearly at once, and chains cross what single variables cannot (Jensen, Kong and Kjaerulff 1995; Bidyuk
// and Dechter 2007).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "core/random.hpp"
#include "network/bucket_sampling.hpp"
#include "network/cut_model.hpp"
#include "network/gibbs.hpp"
#include "network/scaling.hpp"

namespace bayesbox {

// Which variables each block has, in the order in which they are summed out. Every hidden variable is in one at least.
class BlockChoice {
 public:
  BlockChoice(const CutModel& cut, std::size_t most_cells)
      : cut_(cut), log2_limit_(portable::log2(static_cast<double>(most_cells))), log2_(cut.observed().size()) {
    for (const std::int32_t v : cut.hidden())
      log2_[static_cast<std::size_t>(v)] = portable::log2(static_cast<double>(cut.card(v)));
  }

  std::vector<Scope> blocks() const {
    std::vector<Scope> made;
    std::vector<char> covered(cut_.observed().size(), 0);
    std::size_t left = cut_.hidden().size();
    while (left > 0 && made.size() < kMostBlocks) {
      made.push_back(block(covered));
      std::size_t before = left;
      for (const std::int32_t v : made.back())
        if (!covered[static_cast<std::size_t>(v)]) covered[static_cast<std::size_t>(v)] = 1, --left;
      if (left == before) break;
    }
    for (const std::int32_t v : cut_.hidden())
      if (!covered[static_cast<std::size_t>(v)]) made.push_back({v});
    return made;
  }

  // The variables of one block alone; the others must be known for it.
  Scope first() const { return block(std::vector<char>(cut_.observed().size(), 0)); }

 private:
  static constexpr std::size_t kMostBlocks = 8;

  // The variable whose table is the smallest is summed out next; where even that is too large, the variable with the most
  // neighbours is left out, one that another block has if there is such.
  Scope block(const std::vector<char>& covered) const {
    std::vector<Scope> near(cut_.observed().size());
    for (const CutFactor& factor : cut_.factors())
      for (const std::int32_t a : factor.variables)
        for (const std::int32_t b : factor.variables)
          if (a != b) add(near[static_cast<std::size_t>(a)], b);
    const bool first = std::none_of(covered.begin(), covered.end(), [](char each) { return each != 0; });
    Scope alive = cut_.hidden(), order;
    std::vector<double> sizes(near.size());
    for (const std::int32_t v : alive) sizes[static_cast<std::size_t>(v)] = size(near, v);
    while (!alive.empty()) {
      poll(alive.size());
      const auto next = std::min_element(alive.begin(), alive.end(), [&](std::int32_t a, std::int32_t b) {
        return sizes[static_cast<std::size_t>(a)] < sizes[static_cast<std::size_t>(b)];
      });
      std::int32_t v = *next;
      const bool fits = sizes[static_cast<std::size_t>(v)] <= log2_limit_ + 1e-9;
      if (!fits) {
        double most = -1;
        for (const std::int32_t u : alive) {
          const auto at = static_cast<std::size_t>(u);
          const double worth = static_cast<double>(near[at].size()) + (first || covered[at] ? 1e6 : 0.0);
          if (worth > most) most = worth, v = u;
        }
      }
      const Scope around = near[static_cast<std::size_t>(v)];
      for (const std::int32_t u : around) {
        Scope& theirs = near[static_cast<std::size_t>(u)];
        theirs.erase(std::find(theirs.begin(), theirs.end(), v));
        if (fits)
          for (const std::int32_t t : around)
            if (t != u) add(theirs, t);
      }
      for (const std::int32_t u : around) sizes[static_cast<std::size_t>(u)] = size(near, u);
      alive.erase(std::find(alive.begin(), alive.end(), v));
      if (fits) order.push_back(v);
    }
    return order;
  }
  static void add(Scope& scope, std::int32_t v) {
    if (std::find(scope.begin(), scope.end(), v) == scope.end()) scope.push_back(v);
  }
  double size(const std::vector<Scope>& near, std::int32_t v) const {
    double sum = log2_[static_cast<std::size_t>(v)];
    for (const std::int32_t u : near[static_cast<std::size_t>(v)]) sum += log2_[static_cast<std::size_t>(u)];
    return sum;
  }

  const CutModel& cut_;
  double log2_limit_;
  std::vector<double> log2_;
};

// Draws the variables of one block together, given the states of all others.
class BlockDraws {
 public:
  BlockDraws(const CutModel& cut, const Scope& order) : cut_(cut) {
    std::vector<char> inside(cut.observed().size(), 0), used(cut.factors().size(), 0);
    for (const std::int32_t v : order) inside[static_cast<std::size_t>(v)] = 1;
    std::vector<std::pair<Scope, std::size_t>> waiting;  // the scope of a message, and the bucket it comes from
    std::size_t widest = 1;
    for (const std::int32_t v : order) {
      Bucket bucket{v, {v}, {}, {}, {}, {}};
      std::vector<std::size_t> factors;
      for (const CutModel::Use& use : cut.uses(v)) {
        if (used[use.factor]) continue;
        used[use.factor] = 1;
        factors.push_back(use.factor);
        for (const std::int32_t u : cut.factors()[use.factor].variables)
          if (inside[static_cast<std::size_t>(u)]) join(bucket.scope, u);
      }
      std::vector<std::pair<Scope, std::size_t>> mine, others;
      for (auto& each : waiting) {
        const bool has = std::find(each.first.begin(), each.first.end(), v) != each.first.end();
        (has ? mine : others).push_back(std::move(each));
      }
      waiting = std::move(others);
      for (const auto& [scope, from] : mine)
        for (const std::int32_t u : scope) join(bucket.scope, u);
      bucket.levels.resize(bucket.scope.size());
      for (const std::size_t f : factors) bucket.add(from_factor(f, bucket.scope, inside));
      for (const auto& [scope, from] : mine) bucket.add(from_message(from, scope, bucket.scope));
      std::int64_t stride = 1;
      for (std::size_t axis = bucket.scope.size(); axis-- > 0; stride *= card(bucket.scope[axis]))
        bucket.strides.insert(bucket.strides.begin(), stride);
      bucket.table.resize(static_cast<std::size_t>(stride));
      bucket.message.resize(bucket.table.size() / cut.card(v));
      widest = std::max(widest, cut.card(v));
      waiting.emplace_back(Scope(bucket.scope.begin() + 1, bucket.scope.end()), buckets_.size());
      buckets_.push_back(std::move(bucket));
    }
    row_.resize(widest);
  }

  // Sums the variables out, given the states of those outside; false where nothing goes with them.
  bool sum(const std::int32_t* states) {
    for (Bucket& bucket : buckets_) {
      fill(bucket, states);
      const std::size_t rest = bucket.message.size();
      std::copy_n(bucket.table.begin(), rest, bucket.message.begin());
      for (std::size_t at = rest; at < bucket.table.size(); at += rest)
        for (std::size_t i = 0; i < rest; ++i) bucket.message[i] += bucket.table[at + i];
      const double most = *std::max_element(bucket.message.begin(), bucket.message.end());
      if (!(most > 0)) return false;
      const double scale = 1 / most;
      for (double& each : bucket.message) each *= scale;
    }
    return true;
  }

  // Draws them once; adds the distribution each was drawn from, at the offset of its states.
  void draw(Random& random, std::int32_t* states, double* sums) {
    for (std::size_t i = buckets_.size(); i-- > 0;) {
      const Bucket& bucket = buckets_[i];
      std::size_t at = 0;
      for (std::size_t axis = 1; axis < bucket.scope.size(); ++axis)
        at += static_cast<std::size_t>(bucket.strides[axis] * states[bucket.scope[axis]]);
      const std::size_t count = cut_.card(bucket.variable), rest = bucket.message.size();
      double total = 0;
      for (std::size_t s = 0; s < count; ++s) total += row_[s] = bucket.table[s * rest + at];
      states[bucket.variable] = static_cast<std::int32_t>(random.choose(row_.data(), count, total));
      if (sums == nullptr) continue;
      double* to = sums + cut_.offset(bucket.variable);
      for (std::size_t s = 0; s < count; ++s) to[s] += row_[s] / total;
    }
  }

  std::size_t size() const { return buckets_.size(); }
  template <class Visit>
  void each_variable(Visit visit) const {
    for (const Bucket& bucket : buckets_) visit(bucket.variable);
  }

 private:
  // A table or a message that goes into a product: how far its cells lie apart along the axes of the product up to the
  // last that it has, and what the states outside the block add.
  struct Source {
    const double* cells = nullptr;
    std::size_t message = 0;  // where there are no cells: of that bucket
    std::vector<std::int64_t> strides;
    std::vector<std::pair<std::int32_t, std::int64_t>> outside;
  };
  struct Bucket {
    std::int32_t variable;
    Scope scope;  // its own variable first, the slowest axis
    std::vector<std::int64_t> strides;
    std::vector<std::vector<Source>> levels;  // by the last axis they have
    std::vector<double> table, message;

    void add(Source source) {
      const std::size_t last = source.strides.size() - 1;
      levels[last].push_back(std::move(source));
    }
  };

  std::int64_t card(std::int32_t v) const { return static_cast<std::int64_t>(cut_.card(v)); }
  static void join(Scope& scope, std::int32_t v) {
    if (std::find(scope.begin(), scope.end(), v) == scope.end()) scope.push_back(v);
  }
  Source from_factor(std::size_t f, const Scope& scope, const std::vector<char>& inside) const {
    const CutFactor& factor = cut_.factors()[f];
    Source made{factor.cells.data(), 0, {}, {}};
    for (std::size_t axis = 0; axis < factor.variables.size(); ++axis) {
      const std::int32_t v = factor.variables[axis];
      if (inside[static_cast<std::size_t>(v)])
        place(made, scope, v, factor.strides[axis]);
      else
        made.outside.emplace_back(v, factor.strides[axis]);
    }
    return made;
  }
  Source from_message(std::size_t bucket, const Scope& own, const Scope& scope) const {
    Source made{nullptr, bucket, {}, {}};
    std::int64_t stride = 1;
    for (std::size_t axis = own.size(); axis-- > 0; stride *= card(own[axis])) place(made, scope, own[axis], stride);
    return made;
  }
  static void place(Source& made, const Scope& scope, std::int32_t v, std::int64_t stride) {
    const auto axis = static_cast<std::size_t>(std::find(scope.begin(), scope.end(), v) - scope.begin());
    if (made.strides.size() <= axis) made.strides.resize(axis + 1, 0);
    made.strides[axis] = stride;
  }

  // The product, axis by axis: what speaks of the first axes only is multiplied while the table is small.
  void fill(Bucket& bucket, const std::int32_t* states) {
    std::vector<double>& table = bucket.table;
    table[0] = 1;
    std::size_t cells = 1;
    for (std::size_t axis = 0; axis < bucket.scope.size(); ++axis) {
      const std::size_t count = cut_.card(bucket.scope[axis]);
      for (std::size_t row = cells; row-- > 0;) {  // from the end, so that it can be done in place
        const double value = table[row];
        std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(row * count), count, value);
      }
      cells *= count;
      double most = 0;
      for (const Source& source : bucket.levels[axis]) multiply(bucket, source, axis, cells, states);
      if (bucket.levels[axis].empty()) continue;
      for (std::size_t i = 0; i < cells; ++i) most = std::max(most, table[i]);
      if (most > 0 && (most < 1e-100 || most > 1e100))
        for (std::size_t i = 0; i < cells; ++i) table[i] /= most;
    }
    poll(4 * cells);
  }
  void multiply(Bucket& bucket, const Source& source, std::size_t last, std::size_t cells, const std::int32_t* states) {
    const double* from = source.cells != nullptr ? source.cells : buckets_[source.message].message.data();
    for (const auto& [variable, stride] : source.outside) from += stride * states[variable];
    const std::size_t count = cut_.card(bucket.scope[last]);
    const std::int64_t step = source.strides[last];
    at_.assign(last, 0);
    double* to = bucket.table.data();
    for (const double* end = to + cells; to != end;) {
      for (std::size_t s = 0; s < count; ++s) *to++ *= from[static_cast<std::int64_t>(s) * step];
      for (std::size_t axis = last; axis-- > 0;) {
        const std::int64_t size = card(bucket.scope[axis]);
        from += source.strides[axis];
        if (++at_[axis] < size) break;
        from -= source.strides[axis] * size;
        at_[axis] = 0;
      }
    }
  }

  const CutModel& cut_;
  std::vector<Bucket> buckets_;
  std::vector<double> row_;
  std::vector<std::int64_t> at_;
};

struct BlockGibbsResult {
  GibbsResult chains;
  std::size_t blocks = 0, largest = 0;  // how many, and the variables of the largest
};

class BlockGibbsSampler {
 public:
  BlockGibbsSampler(const CutModel& cut, std::size_t most_cells) : cut_(cut), most_cells_(most_cells) {
    for (const Scope& block : BlockChoice(cut, most_cells).blocks()) blocks_.emplace_back(cut, block);
  }

  BlockGibbsResult run(const GibbsRequest& request) {
    BlockGibbsResult result;
    result.blocks = blocks_.size();
    for (const BlockDraws& block : blocks_) result.largest = std::max(result.largest, block.size());
    std::size_t cells = request.wanted.empty() ? 0 : 1;
    for (const std::int32_t v : request.wanted) cells *= cut_.card(v);
    const std::size_t width = cut_.width() + cells;
    Random random(request.seed);
    std::vector<std::vector<std::int32_t>> starts;
    result.chains.started = find_starts(request, random, starts);
    if (!result.chains.started) return result;
    std::vector<double> times(cut_.width() + 1, 0.0);  // how often each variable is drawn in a sweep
    for (const BlockDraws& block : blocks_)
      block.each_variable([&](std::int32_t v) {
        for (std::size_t s = 0; s < cut_.card(v); ++s) times[cut_.offset(v) + s] += kDraws;
      });
    std::vector<double>& means = result.chains.means;
    means.assign(static_cast<std::size_t>(request.chains) * width, 0.0);
    for (std::size_t chain = 0; chain < starts.size(); ++chain) {
      std::int32_t* states = starts[chain].data();
      double* sums = means.data() + chain * width;
      for (std::int64_t sweep = -request.burn_in; sweep < request.sweeps; ++sweep) {
        for (BlockDraws& block : blocks_) {
          if (!block.sum(states)) continue;  // only where numbers underflow: the states stay
          for (int draw = 0; draw < (sweep < 0 ? 1 : kDraws); ++draw) {
            block.draw(random, states, sweep < 0 ? nullptr : sums);
            if (cells == 0 || sweep < 0) continue;
            std::size_t place = 0;
            for (const std::int32_t v : request.wanted)
              place = place * cut_.card(v) + static_cast<std::size_t>(states[v]);
            sums[cut_.width() + place] += 1;
          }
        }
      }
      for (std::size_t i = 0; i < cut_.width(); ++i)
        sums[i] /= std::max(times[i], 1.0) * static_cast<double>(request.sweeps);
      for (std::size_t i = cut_.width(); i < width; ++i)
        sums[i] /= static_cast<double>(kDraws * blocks_.size()) * static_cast<double>(request.sweeps);
      cut_.fill_observed(sums);
    }
    return result;
  }

 private:
  static constexpr int kDraws = 8;             // of a block that was summed once; the last of them is gone on from
  static constexpr std::int64_t kPool = 20;    // weighted samples for each chain to start from one of them
  static constexpr std::int64_t kTries = 100;  // for each of these

  // Of a factor graph, among draws by buckets in proportion to their weights; else as single variables do.
  bool find_starts(const GibbsRequest& request, Random& random, std::vector<std::vector<std::int32_t>>& starts) {
    if (!request.order.empty()) return GibbsSampler(cut_).find_starts(request.order, request.chains, random, starts);
    BucketDraws draws(cut_, std::max<std::size_t>(most_cells_, 1 << 12));
    std::vector<std::vector<std::int32_t>> pool;
    std::vector<double> weights;
    std::vector<std::int32_t> states = cut_.observed();
    const auto wanted = static_cast<std::size_t>(kPool * request.chains);
    for (std::int64_t turn = 0; turn < kTries * kPool * request.chains && pool.size() < wanted; ++turn) {
      poll(64 * states.size());
      const double drawn = draws.draw(random, states.data());
      if (std::isinf(drawn)) continue;
      const double weight = log_product(states.data()) - drawn;
      if (std::isinf(weight)) continue;
      pool.push_back(states);
      weights.push_back(weight);
    }
    if (pool.empty()) return GibbsSampler(cut_).find_starts(request.order, request.chains, random, starts);
    const double most = *std::max_element(weights.begin(), weights.end());
    double total = 0;
    for (double& weight : weights) total += weight = portable::exp((weight - most) * kFlatter);
    for (std::int64_t chain = 0; chain < request.chains; ++chain)
      starts.push_back(pool[random.choose(weights.data(), weights.size(), total)]);
    return true;
  }
  static constexpr double kFlatter = 0.5;  // the power of weights: starts should lie apart rather than be alike

  double log_product(const std::int32_t* states) const {
    LogProduct product;
    for (const CutFactor& factor : cut_.factors()) {
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < factor.variables.size(); ++axis)
        place += factor.strides[axis] * states[factor.variables[axis]];
      const double cell = factor.cells[static_cast<std::size_t>(place)];
      if (!(cell > 0)) return -std::numeric_limits<double>::infinity();
      product.multiply(cell);
    }
    return product.log();
  }

  const CutModel& cut_;
  std::size_t most_cells_;
  std::vector<BlockDraws> blocks_;
};

}  // namespace bayesbox
