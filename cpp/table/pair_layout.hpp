// Where the counts of each column and each pair of columns stand in one flat array.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace bayesbox {

// For each column i its own classes x sizes[i], then for each later column j classes x sizes[i] x sizes[j].
class PairLayout {
 public:
  static constexpr std::size_t kMostLevels = 255;  // a code is a byte, and one more value says "missing"

  PairLayout(const std::vector<std::size_t>& sizes, std::size_t classes, std::size_t most_cells)
      : sizes_(sizes), classes_(classes), before_(sizes.size() + 1, 0) {
    for (std::size_t i = 0; i < sizes.size(); ++i) before_[i + 1] = before_[i] + sizes[i];
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] > kMostLevels) throw std::length_error("a column has more than 255 levels");
      starts_.push_back(cells_);
      grow(classes * sizes[i], most_cells);
      for (std::size_t j = i + 1; j < sizes.size(); ++j) grow(classes * sizes[i] * sizes[j], most_cells);
    }
  }

  std::size_t cells() const { return cells_; }
  const std::vector<std::size_t>& sizes() const { return sizes_; }
  std::size_t classes() const { return classes_; }
  // The first cell of a column by itself, and of a pair of columns, the earlier one first.
  std::size_t single(std::size_t i) const { return starts_[i]; }
  std::size_t pair(std::size_t i, std::size_t j) const {
    return starts_[i] + classes_ * sizes_[i] * (1 + before_[j] - before_[i + 1]);
  }

 private:
  void grow(std::size_t more, std::size_t most) {
    cells_ += more;
    if (cells_ > most) throw std::length_error("the pairs have too many cells");
  }

  std::vector<std::size_t> sizes_;
  std::size_t classes_;
  std::vector<std::size_t> before_;  // levels of the columns before each
  std::vector<std::size_t> starts_;
  std::size_t cells_ = 0;
};

}  // namespace bayesbox
