// Log prior + log-likelihoods of rows x classes, and their normal forms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "column.hpp"
#include "count.hpp"

namespace bayesbox {

enum class Output { joint = 0, log_posterior = 1, posterior = 2, argmax = 3 };

struct GaussianTerm {
  Column values;
  const double* parameters;  // classes x (mean, rest, deviation, constant)
};

struct TableTerm {
  Column codes;
  int128 lowest;        // the value of the first row of the table
  std::size_t levels;   // the table has one row more: for a code outside
  const double* table;  // (levels + 1) x classes
};

struct ScoreRequest {
  std::size_t rows = 0;
  std::size_t classes = 0;
  const double* prior = nullptr;
  std::vector<GaussianTerm> gaussians;
  std::vector<TableTerm> tables;
  const double* extra = nullptr;  // rows x classes, or nothing
};

inline void score(const ScoreRequest& request, Output output, double* out, std::int32_t* best) {
  const std::size_t classes = request.classes;
  std::vector<double> sums(classes);
  for (std::size_t row = 0; row < request.rows; ++row) {
    for (std::size_t c = 0; c < classes; ++c) sums[c] = request.prior[c] + (request.extra ? request.extra[row * classes + c] : 0.0);
    for (const GaussianTerm& term : request.gaussians) {
      const double x = value_at(term.values, row);
      if (std::isnan(x)) continue;
      for (std::size_t c = 0; c < classes; ++c) {
        const double* p = term.parameters + 4 * c;
        const double z = (x - p[0] - p[1]) / p[2];
        sums[c] += p[3] - z * z * 0.5;
      }
    }
    for (const TableTerm& term : request.tables) {
      const int128 offset = with_integer_type(term.codes.kind, [&]<class T>() {
        return static_cast<int128>(load<T>(term.codes.at(row))) - term.lowest;
      });
      const std::size_t level = offset >= 0 && offset < static_cast<int128>(term.levels) ? static_cast<std::size_t>(offset) : term.levels;
      for (std::size_t c = 0; c < classes; ++c) sums[c] += term.table[level * classes + c];
    }
    if (output == Output::argmax) {
      best[row] = classes == 0 ? 0 : static_cast<std::int32_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
      continue;
    }
    double* to = out + row * classes;
    std::copy(sums.begin(), sums.end(), to);
    if (output == Output::joint || classes == 0) continue;
    const double top = *std::max_element(sums.begin(), sums.end());
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += std::exp(sums[c] - top);
    for (std::size_t c = 0; c < classes; ++c)
      to[c] = output == Output::posterior ? std::exp(sums[c] - top) / total : sums[c] - top - std::log(total);
  }
}

}  // namespace bayesbox
