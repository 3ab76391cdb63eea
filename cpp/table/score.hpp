// Log prior + log-likelihoods of rows x classes, and their normal forms.
//
// Rows go through in blocks, with sums laid out class by class so that the lanes of a vector are rows. Every row's sum
// is done in one order (prior and extra, Gaussian terms, those of cell_sum.hpp, then the sum of the table terms of
// table_sum.hpp), so it does not depend on the block or on the instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/column.hpp"
#include "core/exact_array.hpp"
#include "core/interrupt.hpp"
#include "core/kernels.hpp"
#include "table/cell_sum.hpp"
#include "table/gaussian_class.hpp"
#include "table/prefetch.hpp"
#include "table/table_sum.hpp"

namespace bayesbox {

// log_sum: the log of the sum over the classes, one number a row
enum class Output { joint = 0, log_posterior = 1, posterior = 2, argmax = 3, log_sum = 4 };

struct GaussianTerm {
  Column values;
  const double* parameters;  // classes x (mean, rest, deviation, constant)
};

struct ScoreRequest {
  std::size_t rows = 0;
  std::size_t classes = 0;
  const double* prior = nullptr;
  std::vector<GaussianTerm> gaussians;
  std::vector<CellTerm> cells;
  std::vector<TableTerm> tables;
  Column target;  // the row's own class, for tables by class
  std::vector<Column> extra;  // a column of doubles for each class, or nothing
};

// Adds up the terms of a request. What is worked out of the tables and densities is kept, so that the columns may be
// buffers that are filled and answered again and again: see scorer.hpp.
class BlockScorer {
 public:
  static constexpr std::size_t kBlock = 256;

  BlockScorer(const ScoreRequest& request, Output output)
      : request_(request),
        output_(output),
        classes_(request.classes),
        blocks_(request.cells.empty() ? 1 : std::clamp<std::size_t>(kMostSums / (request.classes * kBlock + 1), 1, kMostBlocks)),
        sums_(blocks_ * request.classes * kBlock),
        values_(4 * kBlock),
        top_(kBlock),
        best_(kBlock),
        cells_(request.cells, request.classes, kBlock, !is_normalised(output)),
        tables_(request.tables, request.target, request.rows, request.classes, kBlock) {
    for (const GaussianTerm& term : request.gaussians) prepare(term);
    class_sums_.resize(classes_);
  }

  // Whether a row has no posterior, which is asked for; such a row is NaN.
  bool run(double* out, std::int32_t* best) { return run(request_.rows, out, best); }

  // The same for the first rows alone.
  bool run(std::size_t rows, double* out, std::int32_t* best) {
    bool impossible = false;
    for (std::size_t begin = 0; begin < rows; begin += blocks_ * kBlock) {
      const std::size_t some = std::min(blocks_ * kBlock, rows - begin);
      poll(some * classes_ * (1 + request_.gaussians.size() + 8 * request_.cells.size() + request_.tables.size()));
      for (std::size_t first = 0; first < some; first += kBlock) add_numbers(begin + first, std::min(kBlock, some - first), sums_at(first));
      if (!request_.cells.empty()) cells_.add(begin, some, sums_.data());
      for (std::size_t first = 0; first < some; first += kBlock) {
        const std::size_t row = begin + first, count = std::min(kBlock, some - first);
        double* sums = sums_at(first);
        tables_.add(row, count, sums);
        if (write(count, sums, out + row * (output_ == Output::log_sum ? 1 : classes_), best + row)) impossible = true;
      }
    }
    return impossible;
  }

 private:
  // Whether what all classes have in common does not matter.
  static bool is_normalised(Output output) { return output != Output::joint && output != Output::log_sum; }

  // The blocks of rows that are worked on together, for the sake of cell_sum.hpp, while their sums stay in the cache.
  static constexpr std::size_t kMostBlocks = 8, kMostSums = 16'384;

  // The sums of the block from this row on of those that are worked on: class by class.
  double* sums_at(std::size_t row) { return sums_.data() + row * classes_; }

  void prepare(const GaussianTerm& term) {
    const double shift = common_constant(term);
    for (std::size_t c = 0; c < classes_; ++c) {
      const double* from = term.parameters + 4 * c;
      normals_.push_back(gaussian_class(from[0], from[1], from[2], from[3] - shift));
    }
  }

  // What is left out of the sums of all classes, so that numbers of any scale leave them small and with all their digits.
  double common_constant(const GaussianTerm& term) const {
    if (!is_normalised(output_)) return 0;
    double largest = -INFINITY;
    for (std::size_t c = 0; c < classes_; ++c) largest = std::max(largest, term.parameters[4 * c + 3]);
    return std::isfinite(largest) ? largest : 0;
  }

  // The prior and the Gaussian terms; once more with an eye on holes if it is seen from the sums that there are some.
  void add_numbers(std::size_t begin, std::size_t count, double* sums) {
    start(begin, count, sums);
    if (request_.gaussians.empty() || classes_ == 0) return;
    add_gaussians(begin, count, sums);
    if (holes_) return;
    for (std::size_t c = 0; c < classes_; ++c) class_sums_[c] = sums + c * kBlock;
    if (!kernels_.any_nan(class_sums_.data(), classes_, padded(count))) return;
    holes_ = true;
    start(begin, count, sums);
    add_gaussians(begin, count, sums);
  }

  void start(std::size_t begin, std::size_t count, double* sums) {
    for (std::size_t c = 0; c < classes_; ++c, sums += kBlock) {
      std::fill_n(sums, padded(count), request_.prior[c]);
      if (!request_.extra.empty())
        for (std::size_t i = 0; i < count; ++i) sums[i] += load<double>(request_.extra[c].at(begin + i));
    }
  }

  // The rows behind the last of a short block hold what they held: they are summed with the rest and never read.
  void add_gaussians(std::size_t begin, std::size_t count, double* sums) {
    const std::vector<GaussianTerm>& terms = request_.gaussians;
    const auto column_at = [&](std::size_t j) -> const Column& { return terms[j].values; };
    const std::size_t later = std::min(begin + 2 * kBlock, request_.rows - 1);  // the next would not be there in time
    for (std::size_t j = 0; j < terms.size();) {
      const std::size_t read = std::min<std::size_t>(4, terms.size() - j);
      const std::size_t first = four_around(j, terms.size(), Kind::float64, column_at);
      const bool four = first < terms.size();
      void* const buffers[4] = {buffer(0), buffer(1), buffer(2), buffer(3)};
      if (four) kernels_.gather_four(column_at(first).at(begin), column_at(first).stride, nullptr, count, buffers);
      const double* values[4];
      Ahead ahead[4];
      for (std::size_t k = 0; k < read; ++k) {
        values[k] = four ? buffer(j + k - first) : whole_block(column_at(j + k), begin, count, buffer(k));
        ahead[k] = next_block(column_at, j + k, terms.size(), later, kBlock, four);
      }
      const GaussianClass* normals = normals_.data() + j * classes_;
      const bool holes = holes_ && kernels_.any_nan(values, read, padded(count));
      kernels_.add_gaussians(values, read, padded(count), holes, normals, classes_, sums, kBlock, ahead);
      j += read;
    }
  }

  double* buffer(std::size_t k) { return values_.data() + k * kBlock; }

  // A short block is copied, as the kernels go on to a multiple of kPad.
  static const double* whole_block(const Column& column, std::size_t begin, std::size_t count, double* copy) {
    if (count % kPad == 0) return doubles_at(column, begin, count, copy);
    read_doubles(column, begin, count, copy);
    return copy;
  }

  // Writes the answers for the rows of a block; whether one has no posterior, which is asked for.
  bool write(std::size_t count, double* sums, double* out, std::int32_t* best) {
    switch (output_) {
      case Output::posterior: return classes_ > 0 && kernels_.posteriors(sums, classes_, kBlock, count, out);
      case Output::log_posterior: return classes_ > 0 && kernels_.log_posteriors(sums, classes_, kBlock, count, out);
      case Output::log_sum: kernels_.log_sums(sums, classes_, kBlock, count, out); break;
      case Output::joint:
        for (std::size_t c = 0; c < classes_; ++c)
          for (std::size_t i = 0; i < count; ++i) out[i * classes_ + c] = sums[c * kBlock + i];
        break;
      case Output::argmax:
        kernels_.best(sums, classes_, kBlock, padded(count), top_.data(), best_.data());
        for (std::size_t i = 0; i < count; ++i) best[i] = static_cast<std::int32_t>(best_[i]);
    }
    return false;
  }

  const ScoreRequest& request_;
  Output output_;
  const Kernels& kernels_ = kernels();
  std::size_t classes_, blocks_;
  std::vector<double> sums_;
  std::vector<const double*> class_sums_;
  bool holes_ = false;  // whether numbers have been missing so far
  std::vector<double> values_;
  std::vector<double> top_;
  std::vector<double> best_;  // a class
  std::vector<GaussianClass> normals_;  // term by term
  CellSum cells_;
  TableSum tables_;
};

inline bool score(const ScoreRequest& request, Output output, double* out, std::int32_t* best) {
  return BlockScorer(request, output).run(out, best);
}

}  // namespace bayesbox
