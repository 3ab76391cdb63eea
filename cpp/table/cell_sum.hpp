// The terms of columns whose density is a t in each cell of the grid, added up for blocks of rows.
//
// A term is log(1 + r), with r the density of the class over that of a class of no rows, which is the same for all classes
// and so is asked for only where they are not normalised. A sum of such logs is the log of a product: one log for as many
// columns as a double has room for. Values that do not fit, which are few, are worked out one by one.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  // `block`: a block of rows has so many, a multiple of kPad.
  CellSum(const std::vector<CellTerm>& terms, std::size_t classes, std::size_t block, bool with_commons)
      : terms_(terms), classes_(classes), block_(block), with_commons_(with_commons) {
    if (terms.empty()) return;
    ready_.reserve(terms.size());
    for (const CellTerm& term : terms) ready_.push_back(prepare(term.density, with_commons));
    list_products();
    values_.resize(4 * block);
    products_.resize(std::min(classes, kMostClasses) * block);
    commons_.resize(block);
    const std::size_t columns = std::min(terms.size(), kMostFactors);
    place_.resize(columns * block);
    lift_.resize(columns * block);
    run_.resize(columns * block);
    aside_.resize(block);
    one_.resize(classes);
  }

  // sums[c * block + i] += the terms of row begin + i, and so on block after block, each with its sums behind those of the
  // one before. What is known of a few columns stays in the cache for all the blocks. The rows behind the last, up to a
  // multiple of kPad, are summed with the rest and never read.
  void add(std::size_t begin, std::size_t count, double* sums) {
    for (const Product& product : product_terms_)
      for (std::size_t row = 0; row < count; row += block_)
        add_product(product, begin + row, std::min(block_, count - row), sums + row * classes_);
  }

 private:
  static constexpr double kMostBits = 400;  // of one factor of a product: then e^-700 times it is nothing beside 1
  static constexpr double kRoom = 1000;     // bits of a product
  static constexpr double kLeastBits = 66;  // of a factor
  static constexpr std::size_t kMostClasses = 8;  // whose products are in the nearest cache at a time
  static constexpr auto kMostFactors = static_cast<std::size_t>(kRoom / kLeastBits);

  struct Ready {
    CellScale scale;
    std::vector<double> common_heights;
    std::vector<CellTail> tails;
    double bits = 0;       // the log2 of the greatest factor
    bool is_plain = false;  // worked out value by value
  };

  // Terms one after another whose sum is the log of one product, and plain ones among them.
  struct Product {
    std::size_t first, end;
    double weight;
  };

  static CellTail tail(const double* of) { return {of[0], 1 / (of[1] * std::sqrt(of[2])), (of[2] + 1) / 2}; }

  static Ready prepare(const CellDensity& density, bool with_commons) {
    Ready ready;
    ready.tails.reserve(density.classes);
    const CellTail common = tail(density.parameters + 3 * density.classes);
    ready.scale = {density.base,
                   common,
                   nullptr,
                   density.run_of,
                   density.least_size,
                   density.least_size + static_cast<std::int32_t>(density.sizes) - 1,
                   density.is_log,
                   density.zeros != nullptr};
    if (with_commons)
      for (std::size_t run = 0; run < density.runs; ++run) ready.common_heights.push_back(density.height(density.classes, run));
    ready.scale.common_heights = ready.common_heights.data();  // which moves with it
    // The farthest that a value can be which is not set aside
    const double reach = std::sqrt(kMostCellSquare) / common.inverse + std::fabs(common.shift);
    std::uint16_t last_run = 0;
    for (std::size_t key = 0; key < 2 * density.sizes; ++key) last_run = std::max(last_run, density.run_of[key]);
    bool fits = common.power == 2 && usable(common) && last_run < density.runs;
    for (std::size_t c = 0; c < density.classes; ++c) {
      const CellTail own = tail(density.parameters + 3 * c);
      fits = fits && usable(own) && (own.inverse == 0 || (reach + std::fabs(own.shift)) * own.inverse < 0x1p200);
      ready.tails.push_back(own);
    }
    std::uint64_t most = 0;  // the bits of numbers that are not negative are in their order, and below those of all others
    for (std::size_t i = 0; i < density.classes * density.runs; ++i)
      most = std::max(most, std::bit_cast<std::uint64_t>(density.ratios[i]));
    fits = fits && most < std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    ready.bits = fits ? portable::log2(std::bit_cast<double>(most) + 1) + kLeastBits : 0;
    ready.is_plain = !(fits && ready.bits <= kMostBits);
    return ready;
  }

  // An inverse of 0 is that of a density without a place.
  static bool usable(const CellTail& tail) {
    return std::isfinite(tail.shift) && (std::isnormal(tail.inverse) || tail.inverse == 0) && tail.power > 0;
  }

  void list_products() {
    double bits = 0;
    product_terms_.push_back({0, 0, 1});
    for (std::size_t j = 0; j < terms_.size(); ++j) {
      if (!ready_[j].is_plain) {
        if (bits != 0 && (terms_[j].weight != product_terms_.back().weight || bits + ready_[j].bits > kRoom)) {
          product_terms_.push_back({j, j, 1});
          bits = 0;
        }
        product_terms_.back().weight = terms_[j].weight;
        bits += ready_[j].bits;
      }
      product_terms_.back().end = j + 1;
    }
  }

  void add_product(const Product& product, std::size_t begin, std::size_t count, double* sums) {
    const std::size_t whole = padded(count);
    std::fill_n(commons_.data(), whole, 0.0);
    read_values(product, begin, count, sums);
    if (factors_ == 0) return;
    for (std::size_t first = 0; first < classes_; first += kMostClasses) {
      const std::size_t end = std::min(first + kMostClasses, classes_);
      std::fill_n(products_.data(), (end - first) * block_, 1.0);
      for (std::size_t k = 0; k < factors_; ++k)
        for (std::size_t c = first; c < end; ++c) {
          if (c + 1 < end) fetch_ratios(k, c + 1);
          else if (k + 1 < factors_) fetch_ratios(k + 1, first);
          else if (end < classes_) fetch_ratios(0, end);
          multiply(k, c, whole, products_.data() + (c - first) * block_);
        }
      for (std::size_t c = first; c < end; ++c)
        cells_.add_logs(products_.data() + (c - first) * block_, with_commons_ ? commons_.data() : nullptr, whole, product.weight,
                        sums + c * block_);
    }
  }

  // Those of the next class come into the cache meanwhile: a value asks for any of them, which no processor foresees.
  void fetch_ratios(std::size_t factor, std::size_t c) const {
    const CellDensity& density = terms_[factor_terms_[factor]].density;
    const double* ratios = density.ratios + c * density.runs;
    for (std::size_t run = 0; run < density.runs; run += 8) __builtin_prefetch(ratios + run, 0, 3);
  }

  void multiply(std::size_t factor, std::size_t c, std::size_t whole, double* products) const {
    const std::size_t j = factor_terms_[factor], at = factor * block_;
    const CellDensity& density = terms_[j].density;
    cells_.multiply(place_.data() + at, lift_.data() + at, run_.data() + at, whole, ready_[j].tails[c],
                    density.ratios + c * density.runs, products);
  }

  // Finds the places of the values of a product; those that are set aside are added.
  void read_values(const Product& product, std::size_t begin, std::size_t count, double* sums) {
    const auto column_at = [&](std::size_t j) -> const Column& { return terms_[j].values; };
    factors_ = 0;
    for (std::size_t j = product.first; j < product.end;) {
      const std::size_t read = std::min<std::size_t>(4, product.end - j);
      const std::size_t first = four_around(j, terms_.size(), Kind::float64, column_at);
      const bool four = first < terms_.size();
      void* const buffers[4] = {buffer(0), buffer(1), buffer(2), buffer(3)};
      if (four) kernels_.gather_four(column_at(first).at(begin), column_at(first).stride, nullptr, count, buffers);
      for (std::size_t k = 0; k < read; ++k) {
        double* values = four ? buffer(j + k - first) : buffer(k);
        if (!four) read_doubles(column_at(j + k), begin, count, values);
        std::fill(values + count, values + padded(count), 0.0);
        read_term(j + k, values, count, sums);
      }
      j += read;
    }
  }

  void read_term(std::size_t j, const double* values, std::size_t count, double* sums) {
    const CellTerm& term = terms_[j];
    const Ready& ready = ready_[j];
    if (ready.is_plain) {
      for (std::size_t i = 0; i < count; ++i) add_one(term, values[i], i, sums);
      return;
    }
    const std::size_t at = factors_ * block_;
    const std::size_t aside = cells_.place(values, padded(count), ready.scale, place_.data() + at, lift_.data() + at, run_.data() + at,
                                           aside_.data(), with_commons_ ? commons_.data() : nullptr);
    for (std::size_t k = 0; k < aside; ++k) add_one(term, values[aside_[k]], aside_[k], sums);
    factor_terms_[factors_++] = j;
  }

  void add_one(const CellTerm& term, double value, std::size_t i, double* sums) {
    if (std::isnan(value)) return;
    const bool is_zero = value == 0 && term.density.zeros != nullptr;  // as many are, as a rule
    if (!is_zero) term.density.log_density(value, with_commons_, one_.data());
    const double* one = is_zero ? term.density.zeros : one_.data();
    for (std::size_t c = 0; c < classes_; ++c) sums[c * block_ + i] += term.weight * one[c];
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
  std::vector<Product> product_terms_;
  std::size_t factor_terms_[kMostFactors] = {};  // those of the product that is worked on
  std::size_t factors_ = 0;
};

}  // namespace bayesbox
