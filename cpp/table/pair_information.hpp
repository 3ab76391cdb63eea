// How much two columns say of each other given the class, for every pair of columns, from the counts of pairs.
//
//   I(x; y | class) = sum over (c, x, y) of n(c, x, y) log( n(c, x, y) n(c) / (n(c, x) n(c, y)) ) / n
//
// of the rows that have both. The sum keeps the digits that a double loses, so that two columns that were swapped, or
// whose levels were, have the same information.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/elementary.hpp"
#include "core/interrupt.hpp"
#include "table/pair_layout.hpp"

namespace bayesbox {

struct PairInformation {
  std::vector<double> nats;   // columns x columns; 0 on the diagonal
  std::vector<double> rows;   // that have both
};

class PairInformationKernel {
 public:
  PairInformationKernel(const PairLayout& layout, const double* counts) : layout_(layout), counts_(counts) {}

  PairInformation all() {
    const std::size_t columns = layout_.sizes().size();
    PairInformation found{std::vector<double>(columns * columns, 0.0), std::vector<double>(columns * columns, 0.0)};
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = i + 1; j < columns; ++j) {
        double rows = 0;
        const double nats = one(layout_.pair(i, j), layout_.sizes()[i], layout_.sizes()[j], rows);
        found.nats[i * columns + j] = found.nats[j * columns + i] = nats;
        found.rows[i * columns + j] = found.rows[j * columns + i] = rows;
      }
    return found;
  }

 private:
  double one(std::size_t start, std::size_t first, std::size_t second, double& rows) {
    n_.clear();
    ratio_.clear();
    const double* counts = counts_ + start;
    poll(4 * layout_.classes() * first * second);
    for (std::size_t c = 0; c < layout_.classes(); ++c, counts += first * second) {
      x_.assign(first, 0.0);
      y_.assign(second, 0.0);
      double both = 0;
      for (std::size_t a = 0; a < first; ++a)
        for (std::size_t b = 0; b < second; ++b) {
          x_[a] += counts[a * second + b];
          y_[b] += counts[a * second + b];
        }
      for (std::size_t a = 0; a < first; ++a) both += x_[a];
      rows += both;
      for (std::size_t a = 0; a < first; ++a)
        for (std::size_t b = 0; b < second; ++b) {
          const double n = counts[a * second + b];
          if (!(n > 0)) continue;
          n_.push_back(n);
          ratio_.push_back(n * both / (x_[a] * y_[b]));
        }
    }
    if (!(rows > 0)) return 0.0;
    natural_logarithms(ratio_);
    double sum = 0, rest = 0;
    for (std::size_t k = 0; k < n_.size(); ++k) {
      const double term = n_[k] * ratio_[k], next = sum + term;
      rest += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
      sum = next;
    }
    return std::max((sum + rest) / rows, 0.0);
  }

  const PairLayout& layout_;
  const double* counts_;
  std::vector<double> n_, ratio_, x_, y_;
};

}  // namespace bayesbox
