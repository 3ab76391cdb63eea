// The terms of columns that depend on one another without limit, for a scorer: a cell of a joint table of codes, and a joint
// normal of numbers, that of the class or of the cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "table/quadratic.hpp"

namespace bayesbox {

struct JointAxis {
  std::size_t input = 0;  // a column of codes
  bool missing_is_level = false;
};

struct JointModel {
  std::vector<JointAxis> axes;
  std::vector<double> table;  // cells x classes, and one more row for unseen levels
  bool ignores_unseen = false;
  std::vector<std::size_t> numbers;  // inputs
  std::vector<double> mean, mean_low, factor, constant;  // of normals: factor is lower triangular, width x width each
  std::unordered_map<std::size_t, std::vector<std::int32_t>> own;  // the normal of each class in cells that have one

  bool is_used() const { return !axes.empty() || !numbers.empty(); }

  JointNormal normal(std::size_t number) const {
    const std::size_t width = numbers.size();
    return {mean.data() + number * width, mean_low.data() + number * width, factor.data() + number * width * width, constant[number]};
  }

  // constant - |factor (x - mean)|^2 / 2, each sum in the order of the kernel of many rows (vector_joint_kernels.hpp).
  double log_density(std::size_t number, const double* x, double* away) const {
    const std::size_t width = numbers.size();
    const JointNormal own = normal(number);
    for (std::size_t j = 0; j < width; ++j) away[j] = (x[j] - own.mean[j]) - own.rest[j];
    const double* row = own.factor;
    double square = 0;
    for (std::size_t i = 0; i < width; ++i, row += width) {
      double sum = 0;
      for (std::size_t j = 0; j <= i; ++j) sum += row[j] * away[j];
      square += sum * sum;
    }
    const double found = own.constant - square * 0.5;
    return found == found ? found : -std::numeric_limits<double>::infinity();  // too far out for a double
  }
};

}  // namespace bayesbox
