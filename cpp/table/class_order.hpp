// The rows of a block, sorted by class: each class becomes one run, so that its values can be summed side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

struct Run {
  std::size_t label;
  std::size_t begin;  // position in the sorted block, a multiple of kPad
  std::size_t count;
};

class ClassOrder {
 public:
  ClassOrder(std::size_t classes, std::size_t most_rows)
      : classes_(classes), next_(classes + 1), copy_(most_rows), order_(most_rows + kPad * (classes + 1)) {}

  // Sorts rows [begin, begin + count) of the target; a label outside [0, classes) leaves its row out.
  void sort(const Column& target, std::size_t begin, std::size_t count) {
    labels_ = labels_at(target, begin, count, copy_.data());
    runs_.clear();
    length_ = 0;
    if (classes_ > kFewClasses) {
      count_and_place(count);
      return;
    }
    for (std::size_t label = 0; label < classes_; ++label)
      close_run(label, kernels().rows_of(labels_, count, static_cast<std::int32_t>(label), order_.data() + length_));
  }

  const std::vector<Run>& runs() const { return runs_; }
  const std::int32_t* labels() const { return labels_; }  // of the rows of the block
  const std::uint32_t* order() const { return order_.data(); }
  std::size_t length() const { return length_; }  // of the sorted block with its padding
  std::size_t capacity() const { return order_.size(); }

 private:
  static constexpr std::size_t kFewClasses = 8;  // up to this, scanning all labels once per class is faster than counting them

  void close_run(std::size_t label, std::size_t count) {
    if (count == 0) return;
    runs_.push_back({label, length_, count});
    const std::size_t end = length_ + padded(count);
    // The padding names some row of the block; its values are overwritten by zeros.
    std::fill(order_.begin() + static_cast<std::ptrdiff_t>(length_ + count), order_.begin() + static_cast<std::ptrdiff_t>(end), 0);
    length_ = end;
  }

  void count_and_place(std::size_t count) {
    const auto class_of = [this](std::size_t row) { return std::min<std::size_t>(static_cast<std::uint32_t>(labels_[row]), classes_); };
    std::fill(next_.begin(), next_.end(), 0);
    for (std::size_t row = 0; row < count; ++row) ++next_[class_of(row)];
    for (std::size_t label = 0; label < classes_; ++label) {
      const std::size_t in_class = next_[label];
      next_[label] = static_cast<std::uint32_t>(length_);
      close_run(label, in_class);
    }
    next_[classes_] = static_cast<std::uint32_t>(length_);  // rows left out go behind the last run
    for (std::size_t row = 0; row < count; ++row) order_[next_[class_of(row)]++] = static_cast<std::uint32_t>(row);
  }

  std::size_t classes_;
  std::vector<std::uint32_t> next_;
  const std::int32_t* labels_ = nullptr;
  std::vector<std::int32_t> copy_;
  std::vector<std::uint32_t> order_;
  std::vector<Run> runs_;
  std::size_t length_ = 0;
};

}  // namespace bayesbox
