// Rows of codes, and decision trees: shared by forests and boosted trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bayesbox {

constexpr std::uint16_t kMissingCode = 0xFFFF;

// Rows of codes, column by column: code 0xFFFF is missing or unseen.
struct CodedColumns {
  const std::uint16_t* data;  // columns x rows
  std::size_t rows, columns;

  std::uint16_t at(std::size_t row, std::size_t column) const { return data[column * rows + row]; }
};

// A generator that gives the same numbers everywhere (SplitMix64).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>((static_cast<unsigned __int128>(next()) * limit) >> 64); }

 private:
  std::uint64_t state_;
};

// The best split found for a node so far.
struct Split {
  double gain = 0;
  std::int32_t column = -1;
  std::int32_t threshold = 0;      // of a number
  std::vector<std::uint64_t> set;  // of a category: the codes that go left
  bool missing_left = false;
};

// All nodes of all trees. Node `i` asks column[i]: codes below threshold[i] go left, to child[i], others right, to
// child[i] + 1. A category has a set of codes in place of a threshold: bit `code` of the words from set[i] on.
struct Forest {
  std::vector<std::int32_t> root;       // a tree each
  std::vector<std::int32_t> column;     // -1: a leaf
  std::vector<std::int32_t> threshold;  // or, for a category, the first word of its set
  std::vector<std::int32_t> child;
  std::vector<std::uint8_t> missing_left;
  std::vector<std::uint64_t> words;
  std::vector<std::int32_t> words_of;  // a column each: words of a set of its codes; 0 for numbers

  Forest() = default;
  // No trees yet; `levels`: a column each, the number of its codes; `ordered`: whether they are cells of a line.
  Forest(const std::vector<std::size_t>& levels, const std::vector<std::uint8_t>& ordered) {
    for (std::size_t j = 0; j < levels.size(); ++j)
      words_of.push_back(ordered[j] ? 0 : static_cast<std::int32_t>((levels[j] + 63) / 64));
  }

  std::size_t nodes() const { return column.size(); }

  std::size_t add_leaf() {
    column.push_back(-1);
    threshold.push_back(0);
    child.push_back(-1);
    missing_left.push_back(0);
    return nodes() - 1;
  }

  // Makes a leaf ask; its left child is returned, the right one follows it.
  std::size_t divide(std::size_t leaf, const Split& split) {
    const std::size_t left = add_leaf();
    add_leaf();
    column[leaf] = split.column;
    child[leaf] = static_cast<std::int32_t>(left);
    missing_left[leaf] = split.missing_left;
    if (words_of[static_cast<std::size_t>(split.column)] == 0) {
      threshold[leaf] = split.threshold;
    } else {
      threshold[leaf] = static_cast<std::int32_t>(words.size());
      words.insert(words.end(), split.set.begin(), split.set.end());
    }
    return left;
  }

  bool goes_left(std::size_t node, std::uint16_t code) const {
    if (code == kMissingCode) return missing_left[node];
    const std::int32_t size = words_of[static_cast<std::size_t>(column[node])];
    if (size == 0) return code < threshold[node];
    if (code >= size * 64) return missing_left[node];
    return words[static_cast<std::size_t>(threshold[node]) + code / 64] >> (code % 64) & 1;
  }
  // Whether no node of a tree is the child of two or a root twice, so that no walk comes to it by two ways, and none is
  // longer than the rows that a tree is grown on are many. Children lie behind their parents.
  bool is_of_trees() const {
    constexpr std::uint32_t kMostDepth = 1 << 16;
    std::vector<std::uint32_t> depth(nodes());  // 0: nobody's
    for (const std::int32_t at : root)
      if (std::exchange(depth[static_cast<std::size_t>(at)], 1u)) return false;
    for (std::size_t node = 0; node < nodes(); ++node) {
      if (depth[node] > kMostDepth) return false;
      if (depth[node] == 0 || column[node] < 0) continue;  // no tree comes to it, or it is a leaf
      const std::size_t left = static_cast<std::size_t>(child[node]);
      if (left <= node || left + 1 >= nodes()) return false;
      for (const std::size_t side : {left, left + 1})
        if (std::exchange(depth[side], depth[node] + 1)) return false;
    }
    return true;
  }
  std::size_t next(std::size_t node, const CodedColumns& rows, std::size_t row) const {
    const std::uint16_t code = rows.at(row, static_cast<std::size_t>(column[node]));
    return static_cast<std::size_t>(child[node]) + (goes_left(node, code) ? 0 : 1);
  }
};

}  // namespace bayesbox
