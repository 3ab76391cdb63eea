// The rows of a block, sorted by class: each class becomes one run, so that its values can be summed side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "column.hpp"
#include "kernels.hpp"

namespace bayesbox {

struct Run {
  std::size_t label;
  std::size_t begin;  // position in the sorted block, a multiple of kPad
  std::size_t count;
};

class ClassOrder {
 public:
  ClassOrder(std::size_t classes, std::size_t most_rows)
      : classes_(classes), next_(classes + 1), labels_(most_rows), order_(most_rows + kPad * (classes + 1)), places_(most_rows) {}

  // Sorts rows [begin, begin + count) of the target; a label outside [0, classes) leaves its row out.
  void sort(const Column& target, std::size_t begin, std::size_t count) {
    const auto left_out = static_cast<std::uint32_t>(classes_);
    for (std::size_t i = 0; i < count; ++i)
      labels_[i] = std::min(static_cast<std::uint32_t>(load<std::int32_t>(target.at(begin + i))), left_out);
    count_labels(count);
    runs_.clear();
    length_ = 0;
    for (std::size_t label = 0; label < classes_; ++label) {
      const std::size_t in_class = next_[label];
      next_[label] = static_cast<std::uint32_t>(length_);
      if (in_class == 0) continue;
      runs_.push_back({label, length_, in_class});
      const std::size_t end = length_ + padded(in_class);
      // The padding names some row of the block; its values are overwritten by zeros.
      for (std::size_t i = length_ + in_class; i < end; ++i) order_[i] = 0;
      length_ = end;
    }
    next_[classes_] = static_cast<std::uint32_t>(length_);  // rows left out go behind the last run
    place_rows(count);
  }

  const std::vector<Run>& runs() const { return runs_; }
  const std::uint32_t* labels() const { return labels_.data(); }  // of the rows of the block; `classes` where left out
  const std::uint32_t* order() const { return order_.data(); }
  const std::uint32_t* places() const { return places_.data(); }  // where each row of the block stands
  std::size_t length() const { return length_; }  // of the sorted block with its padding
  std::size_t capacity() const { return order_.size(); }

 private:
  // With few classes the counters of all fit in one register, which a row need not wait for as it would for memory.
  static constexpr unsigned kCounterBits = 12;
  static constexpr std::size_t kMostCounters = 5;

  bool packed() const { return next_.size() <= kMostCounters && order_.size() < (1u << kCounterBits); }

  void count_labels(std::size_t count) {
    std::fill(next_.begin(), next_.end(), 0);
    if (!packed()) {
      for (std::size_t i = 0; i < count; ++i) ++next_[labels_[i]];
      return;
    }
    std::uint64_t counters = 0;
    for (std::size_t i = 0; i < count; ++i) counters += std::uint64_t{1} << (kCounterBits * labels_[i]);
    for (std::uint32_t& next : next_) {
      next = static_cast<std::uint32_t>(counters) & ((1u << kCounterBits) - 1);
      counters >>= kCounterBits;
    }
  }

  void place_rows(std::size_t count) {
    const auto put = [this](std::size_t row, std::uint32_t place) {
      places_[row] = place;
      order_[place] = static_cast<std::uint32_t>(row);
    };
    if (!packed()) {
      for (std::size_t i = 0; i < count; ++i) put(i, next_[labels_[i]]++);
      return;
    }
    std::uint64_t counters = 0;
    for (std::size_t label = next_.size(); label-- > 0;) counters = counters << kCounterBits | next_[label];
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned shift = kCounterBits * labels_[i];
      put(i, static_cast<std::uint32_t>(counters >> shift) & ((1u << kCounterBits) - 1));
      counters += std::uint64_t{1} << shift;
    }
  }

  std::size_t classes_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> places_;
  std::vector<Run> runs_;
  std::size_t length_ = 0;
};

}  // namespace bayesbox
