// Log-densities of joint normals: constant - |factor (x - mean)|^2 / 2 for rows x classes, all columns observed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/column.hpp"
#include "core/interrupt.hpp"
#include "core/joint_kernels.hpp"

namespace bayesbox {

// One normal: `factor` is lower triangular, width x width, the inverse of the root of the covariance.
struct JointNormal {
  const double *mean, *rest, *factor;
  double constant;
};

class QuadraticForms {
 public:
  QuadraticForms(const std::vector<Column>& columns, const std::vector<JointNormal>& normals)
      : columns_(columns),
        normals_(normals),
        width_(columns.size()),
        values_(std::max<std::size_t>(4, width_) * kBlock),
        scratch_(width_ * kBlock),
        sums_(kBlock),
        at_(width_) {
    const std::size_t rows = (width_ + 3) / 4 * 4;
    for (const JointNormal& normal : normals_) {
      std::vector<double>& factor = factors_.emplace_back(rows * width_);
      std::copy_n(normal.factor, width_ * width_, factor.data());
    }
  }

  // out: rows x normals. False, with `out` unfinished, where a value is missing (NaN).
  bool run(std::size_t rows, double* out) {
    const std::size_t classes = normals_.size();
    for (std::size_t begin = 0; begin < rows; begin += kBlock) {
      const std::size_t count = std::min(kBlock, rows - begin), whole = padded(count);
      poll(count * width_ * width_ * classes / 4);
      if (!read(begin, count, whole)) return false;
      for (std::size_t c = 0; c < classes; ++c) {
        const JointNormal& normal = normals_[c];
        kernels_.quadratic(at_.data(), whole, width_, normal.mean, normal.rest, factors_[c].data(), normal.constant,
                           scratch_.data(), sums_.data());
        for (std::size_t i = 0; i < count; ++i) {
          // A value so far out that its square is no number is as good as impossible.
          const double sum = sums_[i];
          out[(begin + i) * classes + c] = sum == sum ? sum : -std::numeric_limits<double>::infinity();
        }
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kBlock = 64;  // so that the values of tens of columns stay in the nearest cache

  // False where a value is missing.
  bool read(std::size_t begin, std::size_t count, std::size_t whole) {
    const auto column_at = [this](std::size_t j) -> const Column& { return columns_[j]; };
    for (std::size_t j = 0; j < width_;) {
      if (four_side_by_side(j, width_, Kind::float64, column_at)) {
        void* const four[4] = {copy(j), copy(j + 1), copy(j + 2), copy(j + 3)};
        plain_.gather_four(columns_[j].at(begin), columns_[j].stride, nullptr, count, four);
        for (const std::size_t end = j + 4; j < end; ++j) at_[j] = copy(j);
      } else {
        at_[j] = doubles_at(columns_[j], begin, count, copy(j));
        ++j;
      }
    }
    if (whole > count) fill_up(count, whole);
    bool complete = true;
    for (std::size_t j = 0; j < width_; ++j) complete = complete && !plain_.scan(at_[j], whole).has_nan;
    return complete;
  }

  // Zeros behind the last row of a short block, which is copied for them.
  void fill_up(std::size_t count, std::size_t whole) {
    for (std::size_t j = 0; j < width_; ++j) {
      if (at_[j] != copy(j)) std::copy_n(at_[j], count, copy(j));
      std::fill(copy(j) + count, copy(j) + whole, 0.0);
      at_[j] = copy(j);
    }
  }

  double* copy(std::size_t j) { return values_.data() + j * kBlock; }

  const std::vector<Column>& columns_;
  const std::vector<JointNormal>& normals_;
  std::size_t width_;
  const Kernels& plain_ = kernels();
  const JointKernels& kernels_ = joint_kernels();
  std::vector<double> values_, scratch_, sums_;
  std::vector<const double*> at_;  // the values of a block, column by column
  std::vector<std::vector<double>> factors_;
};

}  // namespace bayesbox
