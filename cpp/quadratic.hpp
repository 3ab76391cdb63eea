// Log-densities of joint normals: constant - |factor (x - mean)|^2 / 2 for rows x classes, all columns observed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "column.hpp"
#include "joint_kernels.hpp"

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
        sums_(kBlock) {
    const std::size_t rows = (width_ + 3) / 4 * 4;
    for (const JointNormal& normal : normals_) {
      std::vector<double>& factor = factors_.emplace_back(rows * width_);
      std::copy_n(normal.factor, width_ * width_, factor.data());
    }
    for (std::size_t j = 0; j < width_; ++j) at_.push_back(values_.data() + j * kBlock);
  }

  // out: rows x normals. False, with `out` unfinished, where a value is missing (NaN).
  bool run(std::size_t rows, double* out) {
    const std::size_t classes = normals_.size();
    for (std::size_t begin = 0; begin < rows; begin += kBlock) {
      const std::size_t count = std::min(kBlock, rows - begin), whole = padded(count);
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
        double* const at = values_.data() + j * kBlock;
        void* const four[4] = {at, at + kBlock, at + 2 * kBlock, at + 3 * kBlock};
        plain_.gather_four(columns_[j].at(begin), columns_[j].stride, nullptr, count, four);
        j += 4;
      } else {
        read_doubles(columns_[j], begin, count, values_.data() + j * kBlock);
        ++j;
      }
    }
    bool complete = true;
    for (std::size_t j = 0; j < width_; ++j) {
      std::fill(at_[j] + count, at_[j] + whole, 0.0);
      complete = complete && !plain_.scan(at_[j], whole).has_nan;
    }
    return complete;
  }

  const std::vector<Column>& columns_;
  const std::vector<JointNormal>& normals_;
  std::size_t width_;
  const Kernels& plain_ = kernels();
  const JointKernels& kernels_ = joint_kernels();
  std::vector<double> values_, scratch_, sums_;
  std::vector<double*> at_;
  std::vector<std::vector<double>> factors_;
};

}  // namespace bayesbox
