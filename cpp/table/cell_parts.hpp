// A Polya tree over the cells of the fixed grid (see cell_tree.hpp): all parts of the line that it halves no more, and what each t
// is multiplied by there. For each class, all nodes are worked on side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/cell_tree_kernels.hpp"
#include "core/kernels.hpp"
#include "table/cell_tree.hpp"

namespace bayesbox {

// The cells of a column that have a count, each with its class.
struct CellCounts {
  std::vector<std::int32_t> keys, labels;
  std::vector<double> counts;

  void reserve(std::size_t size) { keys.reserve(size), labels.reserve(size), counts.reserve(size); }
  void push(std::int32_t key, std::int32_t label, double count) {
    keys.push_back(key);
    labels.push_back(label);
    counts.push_back(count);
  }
};

// Made once for many columns, whose memory it keeps.
class CellParts {
 public:
  explicit CellParts(std::size_t classes) : classes_(classes) {}

  std::size_t classes() const { return classes_; }
  // The first key of each part, ascending.
  const std::vector<std::int64_t>& starts() const { return starts_; }
  // The logs of what the t of a class, or of that of no rows, is multiplied by, one for each part and some that are not read.
  const double* log_ratios(std::size_t c) const { return logs_.data() + c * padded(starts_.size()); }

  void find(const CellCounts& cells, const StudentLine* lines, const CellPlace& place) {
    add_up(cells);
    list_nodes();
    count_classes(cells);
    find_masses(lines, place);
    find_ratios();
  }

 private:
  // The halves that are narrow beside some scale.
  struct Narrow {
    std::vector<std::size_t> halves;
    std::vector<double> centres, widths, masses;  // padded
  };

  // Where a key is among those that have counts: negative keys first, then the others, each from the least size on.
  std::size_t position(std::int64_t key) const {
    return key < 0 ? static_cast<std::size_t>(std::clamp<std::int64_t>(key + 1 + most_, 0, sizes_))
                   : static_cast<std::size_t>(sizes_ + std::clamp<std::int64_t>(key - least_, 0, sizes_));
  }

  // The counts of all classes, before each position.
  void add_up(const CellCounts& cells) {
    least_ = std::int64_t{1} << CellTree::kTop;
    most_ = -1;
    for (const std::int32_t key : cells.keys) {
      const std::int64_t size = key < 0 ? -1 - std::int64_t{key} : key;
      least_ = std::min(least_, size);
      most_ = std::max(most_, size);
    }
    sizes_ = std::max<std::int64_t>(most_ - least_ + 1, 0);
    before_.assign(2 * static_cast<std::size_t>(sizes_) + 1, 0.0);
    for (std::size_t k = 0; k < cells.keys.size(); ++k) before_[position(cells.keys[k]) + 1] += cells.counts[k];
    for (std::size_t k = 1; k < before_.size(); ++k) before_[k] += before_[k - 1];
  }

  // The nodes that are halved, each before its halves, and the parts that are not.
  void list_nodes() {
    starts_.clear(), part_half_.clear(), part_of_.clear();
    edges_.clear(), low_.clear(), high_.clear(), half_.clear(), pooled_.clear();
    list(-(std::int64_t{1} << CellTree::kTop), CellTree::kTop, 0, 1, kWhole, 0, before_.size() - 1);
    nodes_ = edges_.size();
    stride_ = padded(nodes_);
    const auto place_of = [&](std::uint32_t half) {
      return static_cast<std::uint32_t>(half == kWhole ? 2 * stride_ : half / 2 + half % 2 * stride_);
    };
    for (std::uint32_t& half : half_) half = place_of(half);
    for (std::uint32_t& half : part_half_) half = place_of(half);
    low_.resize(stride_, 0), high_.resize(stride_, 1), half_.resize(stride_, static_cast<std::uint32_t>(2 * stride_));
    pooled_halves_.assign(2 * stride_, 0.0);
    for (std::size_t i = 0; i < nodes_; ++i) {
      pooled_halves_[i] = pooled_[2 * i];
      pooled_halves_[stride_ + i] = pooled_[2 * i + 1];
    }
    part_of_.reserve(before_.size());
    for (std::size_t part = 0; part < starts_.size(); ++part) {
      const std::size_t end = part + 1 < starts_.size() ? position(starts_[part + 1]) : before_.size() - 1;
      part_of_.resize(end, static_cast<std::uint32_t>(part));
    }
  }

  // A node from a key on, with the places of the tails at its ends, and the positions at which its cells begin and end.
  void list(std::int64_t first, int level, std::uint32_t low, std::uint32_t high, std::uint32_t half, std::size_t begin,
            std::size_t end) {
    const double count = before_[end] - before_[begin];
    if (half != kWhole) pooled_[half] = count;
    if (level < 0 || !(count >= CellTree::kLeastValues)) {
      starts_.push_back(first);
      part_half_.push_back(half);
      return;
    }
    const auto node = static_cast<std::uint32_t>(edges_.size()), middle = node + 2;
    edges_.push_back(CellTree::middle_edge(static_cast<std::int32_t>(first), level));
    low_.push_back(low), high_.push_back(high), half_.push_back(half);
    pooled_.resize(2 * edges_.size());
    const std::int64_t upper = CellTree::upper_key(static_cast<std::int32_t>(first), level);
    const std::size_t between = position(upper);
    list(first, level - 1, low, middle, 2 * node, begin, between);
    list(upper, level - 1, middle, high, 2 * node + 1, between, end);
  }

  // The counts of each class by part, and the shares of the classes.
  void count_classes(const CellCounts& cells) {
    const std::size_t parts = starts_.size();
    counts_.assign(classes_ * parts, 0.0);
    for (std::size_t k = 0; k < cells.keys.size(); ++k)
      counts_[static_cast<std::size_t>(cells.labels[k]) * parts + part_of_[position(cells.keys[k])]] += cells.counts[k];
    shares_.resize(classes_);
    for (std::size_t c = 0; c < classes_; ++c) {
      double sum = 0;
      for (std::size_t part = 0; part < parts; ++part) sum += counts_[c * parts + part];
      shares_[c] = sum / before_.back();
    }
  }

  // The masses of all halves by each t, and by their mixture.
  void find_masses(const StudentLine* lines, const CellPlace& place) {
    const std::size_t row = 2 * stride_ + kPad;
    masses_.resize((classes_ + 1) * row);
    mixed_.assign(row, 0.0);
    places_.assign(stride_, 0.0), z_.resize(stride_), tails_.resize(stride_ + 2);
    for (std::size_t i = 0; i < nodes_; ++i) places_[i] = place.of(edges_[i]);
    tails_[0] = 0.0, tails_[1] = -0.0;  // of the ends of the line
    list_narrow(lines, place);
    const CellNodes nodes{stride_, low_.data(), high_.data(), half_.data()};
    for (std::size_t c = 0; c <= classes_; ++c) {
      const StudentLine& line = lines[c];
      double* masses = masses_.data() + c * row;
      kernels_.distances(places_.data(), stride_, line, z_.data());
      kernels_.student_tails(z_.data(), stride_, student_tail(line.df), tails_.data() + 2);
      kernels_.half_masses(tails_.data(), nodes, masses);
      masses[2 * stride_] = 1.0;
      sharpen(masses, line);
      if (c < classes_) {
        kernels_.add_times(masses, 2 * stride_, shares_[c], mixed_.data());
        mixed_[2 * stride_] += shares_[c];
      }
    }
  }

  void list_narrow(const StudentLine* lines, const CellPlace& place) {
    narrow_.halves.clear(), narrow_.centres.clear(), narrow_.widths.clear();
    if (place.is_log) return;
    double widest = 0;
    for (std::size_t c = 0; c <= classes_; ++c) widest = std::max(widest, lines[c].scale);
    const auto edge = [&](std::uint32_t tail) {
      return tail >= 2 ? edges_[tail - 2] : std::numeric_limits<double>::infinity() * (tail == 0 ? -1 : 1);
    };
    const auto look_at = [&](std::size_t half, double first, double last) {
      const double width = (last - first) / place.unit;
      if (!(width < 2 * CellTree::kNarrow * widest)) return;
      narrow_.halves.push_back(half);
      narrow_.centres.push_back(place.of(first + (last - first) / 2));
      narrow_.widths.push_back(width);
    };
    for (std::size_t i = 0; i < nodes_; ++i) {
      look_at(i, edge(low_[i]), edges_[i]);
      look_at(stride_ + i, edges_[i], edge(high_[i]));
    }
    for (std::vector<double>* each : {&narrow_.centres, &narrow_.widths, &narrow_.masses}) each->resize(padded(narrow_.halves.size()));
  }

  void sharpen(double* masses, const StudentLine& line) {
    if (narrow_.halves.empty()) return;
    kernels_.narrow_masses(narrow_.centres.data(), narrow_.widths.data(), narrow_.centres.size(), line, log_student_height(line.df),
                           narrow_.masses.data());
    for (std::size_t k = 0; k < narrow_.halves.size(); ++k) {
      double& mass = masses[narrow_.halves[k]];
      if (CellTree::is_narrow(narrow_.widths[k], line.scale, mass)) mass = narrow_.masses[k];
    }
  }

  // What each t is multiplied by in the parts.
  void find_ratios() {
    const std::size_t row = 2 * stride_ + kPad, parts = starts_.size(), width = padded(parts);
    const CellNodes nodes{stride_, low_.data(), high_.data(), half_.data()};
    up_.resize(2 * stride_), other_.resize(2 * stride_), ratios_.resize(2 * stride_), halves_.assign(2 * stride_, 0.0);
    factors_.resize(2 * stride_ + 1);
    logs_.assign((classes_ + 1) * width, 1.0);
    kernels_.pooled_ratios(nodes, mixed_.data(), pooled_halves_.data(), up_.data(), other_.data());
    for (std::size_t c = 0; c <= classes_; ++c) {
      const bool counted = c < classes_;
      if (counted) count_halves(counts_.data() + c * parts);
      kernels_.class_ratios(nodes, masses_.data() + c * row, counted ? halves_.data() : nullptr, up_.data(), other_.data(), ratios_.data());
      double* logs = logs_.data() + c * width;
      if (multiply()) {
        for (std::size_t part = 0; part < parts; ++part) logs[part] = factors_[part_half_[part]];
        bayesbox::kernels().logarithms(logs, width);
      } else {
        add_logs(logs);
      }
    }
  }

  // The counts of the halves from those of the parts, the lowest first.
  void count_halves(const double* counts) {
    for (std::size_t part = 0; part < starts_.size(); ++part)
      if (part_half_[part] < 2 * stride_) halves_[part_half_[part]] = counts[part];
    for (std::size_t i = nodes_; i-- > 1;) halves_[half_[i]] = halves_[i] + halves_[stride_ + i];
  }

  // The products of the ratios on the way down to each half; false where one is too far from 1.
  bool multiply() {
    factors_[2 * stride_] = 1;
    double* const factors = factors_.data();
    const double *const ratios = ratios_.data(), *const above = ratios + stride_;
    for (std::size_t i = 0; i < nodes_; ++i) {
      const double factor = factors[half_[i]];
      factors[i] = factor * ratios[i];
      factors[stride_ + i] = factor * above[i];
    }
    std::uint64_t plain = 0;  // in a loop of its own, which is one of vectors
    for (std::size_t i = 0; i < nodes_; ++i)
      plain += static_cast<std::uint64_t>(CellTree::is_plain(factors[i])) + CellTree::is_plain(factors[stride_ + i]);
    return plain == 2 * nodes_;
  }

  // The sums of their logs instead, as CellTree takes them where a product is not plain.
  void add_logs(double* logs) {
    sums_.assign(2 * stride_ + 1, 0.0);
    factors_[2 * stride_] = 1;
    for (std::size_t i = 0; i < nodes_; ++i)
      for (const std::size_t half : {i, stride_ + i}) {
        const double factor = factors_[half_[i]], ratio = ratios_[half], product = factor * ratio;
        const bool plain = CellTree::is_plain(product);
        factors_[half] = plain ? product : 1;
        sums_[half] = plain ? sums_[half_[i]] : sums_[half_[i]] + (portable::log(factor) + portable::log(ratio));
      }
    for (std::size_t part = 0; part < starts_.size(); ++part) {
      const std::size_t half = part_half_[part];
      logs[part] = factors_[half] == 1 ? sums_[half] : sums_[half] + portable::log(factors_[half]);
    }
  }

  static constexpr std::uint32_t kWhole = ~std::uint32_t{0};  // the half that is the whole line
  std::size_t classes_;
  std::int64_t least_ = 0, most_ = -1, sizes_ = 0;  // of the cells that have counts
  std::vector<double> before_;
  std::vector<std::int64_t> starts_;
  std::vector<std::uint32_t> part_half_, part_of_;  // the half that each part is, and the part of each position
  std::size_t nodes_ = 0, stride_ = 0;
  std::vector<double> edges_;
  std::vector<std::uint32_t> low_, high_, half_;
  std::vector<double> pooled_, pooled_halves_;
  std::vector<double> counts_, shares_, halves_;
  std::vector<double> places_, z_, tails_, masses_, mixed_;
  Narrow narrow_;
  std::vector<double> up_, other_, ratios_, factors_, sums_, logs_;
  const CellTreeKernels& kernels_ = cell_tree_kernels();
};

}  // namespace bayesbox
