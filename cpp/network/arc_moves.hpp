// A structure under search, and the best of the moves from it: to add an arc, to delete one, to reverse one.
//
// The gains of all changes of one parent are given for a node at a time; which moves are legal follows from the arcs
// and from reachability. Visited structures are identified by a hash, the exclusive or of a random number per arc.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"

namespace bayesbox {

// A set of nodes for each node.
class NodeSets {
 public:
  explicit NodeSets(std::size_t nodes) : width_((nodes + 63) / 64), bits_(nodes * width_, 0) {}
  bool has(std::size_t set, std::size_t node) const { return (bits_[set * width_ + node / 64] >> (node % 64) & 1) != 0; }
  void flip(std::size_t set, std::size_t node) { bits_[set * width_ + node / 64] ^= std::uint64_t{1} << (node % 64); }
  void clear() { std::fill(bits_.begin(), bits_.end(), 0); }
  void join(std::size_t set, const NodeSets& other, std::size_t of) {
    for (std::size_t k = 0; k < width_; ++k) bits_[set * width_ + k] |= other.bits_[of * width_ + k];
  }
  bool meets(std::size_t set, const NodeSets& other, std::size_t of) const {
    for (std::size_t k = 0; k < width_; ++k)
      if ((bits_[set * width_ + k] & other.bits_[of * width_ + k]) != 0) return true;
    return false;
  }
  // Whether a set is another one plus one node.
  bool is_with(std::size_t set, std::size_t other, std::size_t node) const {
    for (std::size_t k = 0; k < width_; ++k) {
      std::uint64_t wanted = bits_[other * width_ + k];
      if (node / 64 == k) wanted |= std::uint64_t{1} << (node % 64);
      if (bits_[set * width_ + k] != wanted) return false;
    }
    return true;
  }
  std::size_t size(std::size_t set) const {
    std::size_t found = 0;
    for (std::size_t k = 0; k < width_; ++k) found += static_cast<std::size_t>(std::popcount(bits_[set * width_ + k]));
    return found;
  }
  template <class Use>
  void each(std::size_t set, const Use& use) const {
    for (std::size_t k = 0; k < width_; ++k)
      for (std::uint64_t left = bits_[set * width_ + k]; left != 0; left &= left - 1)
        use(64 * k + static_cast<std::size_t>(std::countr_zero(left)));
  }

 private:
  std::size_t width_;
  std::vector<std::uint64_t> bits_;
};

enum class MoveKind : std::uint8_t { add, remove, reverse };

struct ArcMove {
  MoveKind kind = MoveKind::add;
  std::size_t parent = 0, child = 0;
  double gain = -std::numeric_limits<double>::infinity();
};

class ArcMoves {
 public:
  // required, turnable, marks: parent x child. A turnable arc may have either direction.
  ArcMoves(std::size_t nodes, std::vector<std::uint8_t> required, std::vector<std::uint8_t> turnable,
           std::vector<std::uint64_t> marks)
      : nodes_(nodes), required_(std::move(required)), turnable_(std::move(turnable)), marks_(std::move(marks)),
        above_(nodes), below_(nodes), reach_(nodes), gain_(nodes * nodes, kNever), scores_(nodes, 0.0) {}

  void toggle(std::size_t parent, std::size_t child) {
    above_.flip(child, parent);
    below_.flip(parent, child);
    mark_ ^= marks_[parent * nodes_ + child];
    reached_ = false;
  }
  void apply(const ArcMove& move) {
    toggle(move.parent, move.child);
    if (move.kind == MoveKind::reverse) toggle(move.child, move.parent);
  }
  // The score of a node's family, and the gain of adding or removing each parent; -inf if not allowed.
  void set_changes(std::size_t child, double score, const double* gain) {
    scores_[child] = score;
    for (std::size_t parent = 0; parent < nodes_; ++parent) gain_[parent * nodes_ + child] = gain[parent];
  }
  // Makes every change of a node's parents less attractive.
  void lower(std::size_t child, double by) {
    for (std::size_t parent = 0; parent < nodes_; ++parent) gain_[parent * nodes_ + child] -= by;
  }
  double total() const {
    double sum = 0, rest = 0;  // Neumaier's sum: scores of many nodes differ in size
    for (const double score : scores_) {
      const double next = sum + score;
      rest += std::abs(sum) >= std::abs(score) ? (sum - next) + score : (score - next) + sum;
      sum = next;
    }
    return std::isfinite(sum) ? sum + rest : sum;
  }
  void remember() { seen_.insert(mark_); }

  // The best move, in case of a tie the first by kind, parent and child; with `fresh`, to a structure not yet visited.
  // The gain is -inf if there is none.
  ArcMove best(bool fresh) {
    find_paths();
    std::vector<ArcMove>& legal = legal_;
    legal.clear();
    for (std::size_t parent = 0; parent < nodes_; ++parent) {
      poll(nodes_);
      for (std::size_t child = 0; child < nodes_; ++child) {
        const double gain = gain_[parent * nodes_ + child];
        if (gain == kNever || parent == child || above_.has(child, parent) || reach_.has(child, parent)) continue;
        legal.push_back({MoveKind::add, parent, child, gain});
      }
    }
    const std::size_t added = legal.size();
    for (std::size_t parent = 0; parent < nodes_; ++parent)
      below_.each(parent, [&](std::size_t child) {
        if (required_[parent * nodes_ + child] == 0 && gain_[parent * nodes_ + child] != kNever)
          legal.push_back({MoveKind::remove, parent, child, gain_[parent * nodes_ + child]});
      });
    const std::size_t removed = legal.size();
    for (std::size_t k = added; k < removed; ++k) {
      const ArcMove& arc = legal[k];
      const double back = gain_[arc.child * nodes_ + arc.parent];
      if (!std::isfinite(back) || other_path(arc.parent, arc.child)) continue;
      legal.push_back({MoveKind::reverse, arc.parent, arc.child, arc.gain + back});
    }
    while (true) {
      double most = kNever;
      for (const ArcMove& move : legal) most = std::max(most, move.gain);
      if (most == kNever) return {};
      const double near = most - 1e-9 * std::max(1.0, std::abs(most));
      for (ArcMove& move : legal) {
        if (!(move.gain >= near)) continue;
        if (!fresh || !seen_.contains(mark_after(move))) return move;
        move.gain = kNever;
      }
    }
  }

  // The turnable arcs a -> b where b has the parents of a and a itself, by child, then parent.
  std::vector<ArcMove> covered() const {
    std::vector<ArcMove> found;
    for (std::size_t child = 0; child < nodes_; ++child)
      above_.each(child, [&](std::size_t parent) {
        if (turnable_[parent * nodes_ + child] != 0 && above_.is_with(child, parent, parent))
          found.push_back({MoveKind::reverse, parent, child, 0.0});
      });
    return found;
  }

  std::size_t nodes() const { return nodes_; }
  const NodeSets& parents() const { return above_; }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();

  std::uint64_t mark_after(const ArcMove& move) const {
    const std::uint64_t mark = mark_ ^ marks_[move.parent * nodes_ + move.child];
    return move.kind == MoveKind::reverse ? mark ^ marks_[move.child * nodes_ + move.parent] : mark;
  }
  // Whether a path leads from one to the other other than the arc between them.
  bool other_path(std::size_t from, std::size_t to) const {
    bool found = false;
    below_.each(from, [&](std::size_t next) { found = found || reach_.has(next, to); });
    return found;
  }
  // Where paths lead from each node, in reverse of an order in which parents come before children.
  void find_paths() {
    if (reached_) return;
    std::vector<std::size_t> order, waiting(nodes_);
    for (std::size_t node = 0; node < nodes_; ++node) {
      waiting[node] = above_.size(node);
      if (waiting[node] == 0) order.push_back(node);
    }
    for (std::size_t at = 0; at < order.size(); ++at)
      below_.each(order[at], [&](std::size_t child) {
        if (--waiting[child] == 0) order.push_back(child);
      });
    reach_.clear();
    for (std::size_t at = order.size(); at-- > 0;) {
      reach_.join(order[at], below_, order[at]);
      below_.each(order[at], [&](std::size_t child) { reach_.join(order[at], reach_, child); });
    }
    reached_ = true;
  }

  std::size_t nodes_;
  std::vector<std::uint8_t> required_, turnable_;
  std::vector<std::uint64_t> marks_;
  NodeSets above_, below_, reach_;  // the parents, the children, and the reachable nodes
  std::vector<double> gain_;        // parent x child
  std::vector<double> scores_;
  std::vector<ArcMove> legal_;
  std::unordered_set<std::uint64_t> seen_;
  std::uint64_t mark_ = 0;
  bool reached_ = false;
};

}  // namespace bayesbox
