// The terms of columns whose density is a t in each cell of the grid, added up for blocks of rows.
//
// A term is log(1 + r), with r the density of the class over that of a class of no rows, which is the same for all classes
// and so is asked for only where they are not normalised. A sum of such logs is the log of a product: one log for as many
// columns as a double has room for. Values that do not fit, which are few, are worked out one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cell_kernels.hpp"
#include "core/column.hpp"
#include "core/functions.hpp"
#include "table/cell_density.hpp"

namespace bayesbox {

struct CellTerm {
  Column values;
  CellDensity density;
  double weight = 1;
};

class CellSum {
 public:
  CellSum(const std::vector<CellTerm>& terms, std::size_t classes, std::size_t block, bool with_commons)
      : terms_(terms), classes_(classes), block_(block), with_commons_(with_commons) {
    if (terms.empty()) return;
    for (const CellTerm& term : terms) ready_.push_back(prepare(term.density));
    values_.resize(4 * block);
    products_.assign(classes * block, 1.0);
    commons_.assign(block, 0.0);
    place_.resize(block);
    lift_.resize(block);
    run_.resize(block);
    aside_.resize(block);
    one_.resize(classes);
  }

  // sums[c * block + i] += the terms of row begin + i. The rows behind the last, up to a multiple of kPad, are summed with
  // the rest and never read.
  void add(std::size_t begin, std::size_t count, double* sums) {
    const auto column_at = [&](std::size_t j) -> const Column& { return terms_[j].values; };
    for (std::size_t j = 0; j < terms_.size();) {
      const std::size_t read = std::min<std::size_t>(4, terms_.size() - j);
      const std::size_t first = four_around(j, terms_.size(), Kind::float64, column_at);
      const bool four = first < terms_.size();
      void* const buffers[4] = {buffer(0), buffer(1), buffer(2), buffer(3)};
      if (four) kernels_.gather_four(column_at(first).at(begin), column_at(first).stride, nullptr, count, buffers);
      for (std::size_t k = 0; k < read; ++k) {
        double* values = four ? buffer(j + k - first) : buffer(k);
        if (!four) read_doubles(column_at(j + k), begin, count, values);
        std::fill(values + count, values + padded(count), 0.0);
        add_term(j + k, values, count, sums);
      }
      j += read;
    }
    flush(padded(count), sums);
  }

 private:
  static constexpr double kMostBits = 400;  // of one factor of a product: then e^-700 times it is nothing beside 1

  struct Ready {
    CellScale scale;
    std::vector<double> common_heights;
    std::vector<CellTail> tails;
    double bits = 0;       // the log2 of the greatest factor
    bool is_plain = false;  // worked out value by value
  };

  static CellTail tail(const double* of) { return {of[0], 1 / (of[1] * std::sqrt(of[2])), (of[2] + 1) / 2}; }

  static Ready prepare(const CellDensity& density) {
    Ready ready;
    const CellTail common = tail(density.parameters + 3 * density.classes);
    ready.scale = {density.base,
                   common,
                   nullptr,
                   density.run_of,
                   density.least_size,
                   density.least_size + static_cast<std::int32_t>(density.sizes) - 1,
                   static_cast<std::uint32_t>(density.runs) - 1,
                   density.is_log,
                   density.zeros != nullptr};
    for (std::size_t run = 0; run < density.runs; ++run) ready.common_heights.push_back(density.height(density.classes, run));
    ready.scale.common_heights = ready.common_heights.data();  // which moves with it
    // The farthest that a value can be which is not set aside
    const double reach = std::sqrt(kMostCellSquare) / common.inverse + std::fabs(common.shift);
    bool fits = common.power == 2 && usable(common);
    for (std::size_t c = 0; c < density.classes; ++c) {
      const CellTail own = tail(density.parameters + 3 * c);
      fits = fits && usable(own) && (own.inverse == 0 || (reach + std::fabs(own.shift)) * own.inverse < 0x1p200);
      ready.tails.push_back(own);
    }
    const double* end = density.ratios + density.classes * density.runs;
    double most = 0;
    for (const double* ratio = density.ratios; ratio != end; ++ratio) {
      fits = fits && *ratio >= 0;
      most = std::max(most, *ratio);
    }
    ready.bits = portable::log2(most + 1) + 2 * portable::log2(kMostCellSquare) + 2;
    ready.is_plain = !(fits && ready.bits <= kMostBits);
    return ready;
  }

  // An inverse of 0 is that of a density without a place.
  static bool usable(const CellTail& tail) {
    return std::isfinite(tail.shift) && (std::isnormal(tail.inverse) || tail.inverse == 0) && tail.power > 0;
  }

  void add_term(std::size_t j, const double* values, std::size_t count, double* sums) {
    const CellTerm& term = terms_[j];
    const Ready& ready = ready_[j];
    if (ready.is_plain) {
      for (std::size_t i = 0; i < count; ++i) add_one(term, values[i], i, sums);
      return;
    }
    const std::size_t whole = padded(count);
    if (term.weight != weight_ || bits_ + ready.bits > 1000) flush(whole, sums);
    weight_ = term.weight;
    bits_ += ready.bits;
    const std::size_t aside = cells_.place(values, whole, ready.scale, place_.data(), lift_.data(), run_.data(), aside_.data(),
                                           with_commons_ ? commons_.data() : nullptr);
    for (std::size_t c = 0; c < classes_; ++c)
      cells_.multiply(place_.data(), lift_.data(), run_.data(), whole, ready.tails[c],
                      term.density.ratios + c * term.density.runs, products_.data() + c * block_);
    for (std::size_t k = 0; k < aside; ++k) add_one(term, values[aside_[k]], aside_[k], sums);
  }

  void add_one(const CellTerm& term, double value, std::size_t i, double* sums) {
    if (std::isnan(value)) return;
    const bool is_zero = value == 0 && term.density.zeros != nullptr;  // as many are, as a rule
    if (!is_zero) term.density.log_density(value, with_commons_, one_.data());
    const double* one = is_zero ? term.density.zeros : one_.data();
    for (std::size_t c = 0; c < classes_; ++c) sums[c * block_ + i] += term.weight * one[c];
  }

  // Adds the logs of the products and starts anew.
  void flush(std::size_t whole, double* sums) {
    if (bits_ == 0) return;
    for (std::size_t c = 0; c < classes_; ++c) {
      double* products = products_.data() + c * block_;
      cells_.add_logs(products, with_commons_ ? commons_.data() : nullptr, whole, weight_, sums + c * block_);
      std::fill_n(products, whole, 1.0);
    }
    std::fill_n(commons_.data(), whole, 0.0);
    bits_ = 0;
  }

  double* buffer(std::size_t k) { return values_.data() + k * block_; }

  const std::vector<CellTerm>& terms_;
  const Kernels& kernels_ = kernels();
  const CellKernels& cells_ = cell_kernels();
  std::size_t classes_, block_;
  bool with_commons_;
  std::vector<Ready> ready_;
  std::vector<double> values_, products_, commons_, place_, lift_, one_;
  std::vector<std::uint32_t> run_;
  std::vector<std::uint16_t> aside_;
  double weight_ = 1;
  double bits_ = 0;  // of the products
};

}  // namespace bayesbox
