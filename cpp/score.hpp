// Log prior + log-likelihoods of rows x classes, and their normal forms.
//
// Rows go through in blocks, with sums laid out class by class so that the lanes of a vector are rows. Every row's sum
// is done in one order (prior and extra, Gaussian terms, then the sum of the table terms), so it does not depend on
// the block or on the instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "column.hpp"
#include "exact_array.hpp"
#include "kernels.hpp"

namespace bayesbox {

enum class Output { joint = 0, log_posterior = 1, posterior = 2, argmax = 3 };

struct GaussianTerm {
  Column values;
  const double* parameters;  // classes x (mean, rest, deviation, constant)
};

struct TableTerm {
  Column codes;
  int128 lowest;        // the value of the first row of the table
  std::size_t levels;   // the table has more rows: for a code outside and, where there can be one, for NaN
  const double* table;  // rows x classes
  bool by_class = false;  // the rows of the table are those of all levels for each class that a row may have itself
  bool nan_row = false;   // the last row is for NaN

  std::size_t table_rows(std::size_t classes) const { return (by_class ? classes : 1) * levels + 1 + nan_row; }
};

struct ScoreRequest {
  std::size_t rows = 0;
  std::size_t classes = 0;
  const double* prior = nullptr;
  std::vector<GaussianTerm> gaussians;
  std::vector<TableTerm> tables;
  Column target;  // the row's own class, for tables by class
  const double* extra = nullptr;  // rows x classes, or nothing
};

class Scorer {
 public:
  explicit Scorer(const ScoreRequest& request)
      : request_(request),
        classes_(request.classes),
        width_((request.classes + 3) / 4 * 4),
        sums_(request.classes * kBlock),
        values_(4 * kBlock),
        wide_(4 * kBlock),
        top_(kBlock),
        total_(kBlock),
        best_(kBlock) {
    for (const GaussianTerm& term : request.gaussians) prepare(term);
    for (const TableTerm& term : request.tables) prepare(term);
  }

  // Whether a row has no posterior, which is asked for; such a row is NaN.
  bool run(Output output, double* out, std::int32_t* best) {
    bool impossible = false;
    for (std::size_t begin = 0; begin < request_.rows; begin += kBlock) {
      const std::size_t count = std::min(kBlock, request_.rows - begin);
      start(begin, count);
      add_gaussians(begin, count);
      add_tables(begin, count);
      if (output == Output::posterior) {
        if (classes_ > 0 && kernels_.posteriors(sums_.data(), classes_, kBlock, count, out + begin * classes_))
          impossible = true;
        continue;
      }
      if (output != Output::joint) find_best(count);
      if (output == Output::argmax)
        for (std::size_t i = 0; i < count; ++i) best[begin + i] = top_[i] == -INFINITY ? kNone : best_[i];
      else if (finish(output, count, out + begin * classes_))
        impossible = true;
    }
    return impossible;
  }

 private:
  static constexpr std::size_t kBlock = 256;
  static constexpr std::int32_t kNone = -1;  // the best class of a row that no class allows

  double* sums_of(std::size_t label) { return sums_.data() + label * kBlock; }

  void prepare(const GaussianTerm& term) {
    for (std::size_t c = 0; c < classes_; ++c) {
      const double* from = term.parameters + 4 * c;
      GaussianClass normal{from[0], from[1], from[2], 1.0 / from[2], from[3], false};
      normal.by_inverse = std::isnormal(normal.inverse);
      normals_.push_back(normal);
    }
  }

  // A copy of the table whose rows are padded to a multiple of four, so that one level is whole vectors.
  void prepare(const TableTerm& term) {
    const std::size_t rows = term.table_rows(classes_);
    std::vector<double>& table = padded_tables_.emplace_back(rows * width_);
    for (std::size_t level = 0; level < rows; ++level)
      std::copy_n(term.table + level * classes_, classes_, table.data() + level * width_);
    tables_.push_back(table.data());
    levels_.emplace_back(kBlock);
    level_rows_.push_back(levels_.back().data());
  }

  void start(std::size_t begin, std::size_t count) {
    for (std::size_t c = 0; c < classes_; ++c) {
      double* sums = sums_of(c);
      std::fill_n(sums, kBlock, request_.prior[c]);
      if (request_.extra != nullptr)
        for (std::size_t i = 0; i < count; ++i) sums[i] += request_.extra[(begin + i) * classes_ + c];
    }
  }

  // The rows behind the last of a short block hold what they held: they are summed with the rest and never read.
  void add_gaussians(std::size_t begin, std::size_t count) {
    const std::vector<GaussianTerm>& terms = request_.gaussians;
    double* const buffers[4] = {values_.data(), values_.data() + kBlock, values_.data() + 2 * kBlock, values_.data() + 3 * kBlock};
    void* const out[4] = {buffers[0], buffers[1], buffers[2], buffers[3]};
    const auto column_at = [&](std::size_t j) -> const Column& { return terms[j].values; };
    for (std::size_t j = 0; j < terms.size();) {
      const std::size_t read = std::min<std::size_t>(4, terms.size() - j);
      if (four_side_by_side(j, terms.size(), Kind::float64, column_at))
        kernels_.gather_four(terms[j].values.at(begin), terms[j].values.stride, nullptr, count, out);
      else
        for (std::size_t k = 0; k < read; ++k) read_doubles(terms[j + k].values, begin, count, buffers[k]);
      kernels_.add_gaussians(buffers, read, padded(count), normals_.data() + j * classes_, classes_, sums_.data(), kBlock);
      j += read;
    }
  }

  void add_tables(std::size_t begin, std::size_t count) {
    if (tables_.empty() || classes_ == 0) return;
    const std::vector<TableTerm>& terms = request_.tables;
    void* const out[4] = {wide_.data(), wide_.data() + kBlock, wide_.data() + 2 * kBlock, wide_.data() + 3 * kBlock};
    const auto column_at = [&](std::size_t j) -> const Column& { return terms[j].codes; };
    for (std::size_t j = 0; j < terms.size();) {
      const Column& codes = terms[j].codes;
      const bool wide = codes.kind == Kind::int64 || codes.kind == Kind::uint64;
      if (wide && four_side_by_side(j, terms.size(), codes.kind, column_at)) {
        kernels_.gather_four(codes.at(begin), codes.stride, nullptr, count, out);
        for (std::size_t k = 0; k < 4; ++k) {
          const Column gathered{static_cast<const char*>(out[k]), 8, count, codes.kind};
          find_levels(terms[j + k], gathered, 0, count, levels_[j + k].data());
        }
        j += 4;
      } else {
        find_levels(terms[j], codes, begin, count, levels_[j].data());
        ++j;
      }
    }
    for (std::size_t j = 0; j < terms.size(); ++j)
      if (terms[j].by_class) move_to_class(terms[j], begin, count, levels_[j].data());
    kernels_.add_tables(tables_.data(), level_rows_.data(), tables_.size(), count, classes_, sums_.data(), kBlock);
  }

  void find_levels(const TableTerm& term, const Column& codes, std::size_t begin, std::size_t count,
                   std::uint32_t* levels) const {
    const auto outside = static_cast<std::uint32_t>(term.levels);
    if (is_floating(codes.kind)) {
      find_levels_of_doubles(term, begin, count, levels);
      return;
    }
    with_integer_type(codes.kind, [&]<class T>() {
      using Unsigned = std::make_unsigned_t<T>;
      // The part of the table within the range of T, so that differences modulo 2^bits tell inside from outside.
      const int128 least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
      const int128 first = std::max(term.lowest, least);
      const int128 last = std::min(term.lowest + static_cast<int128>(term.levels) - 1, most);
      if (first > last) {
        std::fill_n(levels, count, outside);
        return;
      }
      const auto base = static_cast<Unsigned>(first), reach = static_cast<Unsigned>(last - first);
      const auto skipped = static_cast<std::uint32_t>(first - term.lowest);
      const char* at = codes.at(begin);
      if (sizeof(T) == 8 && codes.stride == 8 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0) {
        kernels_.levels_of_int64(reinterpret_cast<const std::uint64_t*>(at), count, base, reach, skipped, outside, levels);
        return;
      }
      const auto level_of = [&](const char* address) {
        const auto offset = static_cast<Unsigned>(static_cast<Unsigned>(load<T>(address)) - base);
        return offset <= reach ? static_cast<std::uint32_t>(offset) + skipped : outside;
      };
      if (codes.stride == static_cast<std::int64_t>(sizeof(T)))
        for (std::size_t i = 0; i < count; ++i) levels[i] = level_of(at + i * sizeof(T));
      else
        for (std::size_t i = 0; i < count; ++i, at += codes.stride) levels[i] = level_of(at);
    });
  }

  static void find_levels_of_doubles(const TableTerm& term, std::size_t begin, std::size_t count,
                                     std::uint32_t* levels) {
    const auto outside = static_cast<std::uint32_t>(term.levels);
    const auto lowest = static_cast<double>(term.lowest), end = static_cast<double>(term.levels);
    with_floating_type(term.codes.kind, [&]<class T>() {
      const char* at = term.codes.at(begin);
      for (std::size_t i = 0; i < count; ++i, at += term.codes.stride) {
        const double offset = static_cast<double>(load<T>(at)) - lowest;
        const bool inside = offset >= 0 && offset < end;
        const auto level = static_cast<std::uint32_t>(inside ? offset : 0);
        const std::uint32_t other = offset == offset ? outside : outside + 1;
        levels[i] = inside && static_cast<double>(level) == offset ? level : other;
      }
    });
  }

  // From the level to the row of the table that is the level's within the row's own class.
  void move_to_class(const TableTerm& term, std::size_t begin, std::size_t count, std::uint32_t* levels) const {
    const auto width = static_cast<std::uint32_t>(term.levels), last = static_cast<std::uint32_t>(classes_ * term.levels);
    for (std::size_t i = 0; i < count; ++i) {
      const auto own = static_cast<std::uint32_t>(load<std::int32_t>(request_.target.at(begin + i)));
      levels[i] = levels[i] < width && own < classes_ ? own * width + levels[i] : last;
    }
  }

  // The largest sum of each row, and the first class that has it.
  void find_best(std::size_t count) {
    std::fill_n(top_.data(), kBlock, -std::numeric_limits<double>::infinity());
    std::fill_n(best_.data(), kBlock, 0);
    for (std::size_t c = 0; c < classes_; ++c) {
      const double* sums = sums_of(c);
      for (std::size_t i = 0; i < count; ++i) {
        const bool better = sums[i] > top_[i];
        best_[i] = better ? static_cast<std::int32_t>(c) : best_[i];
        top_[i] = better ? sums[i] : top_[i];
      }
    }
  }

  // Writes the joint or the log posterior; whether a row has none of the latter.
  bool finish(Output output, std::size_t count, double* out) {
    if (output == Output::joint) {
      for (std::size_t c = 0; c < classes_; ++c)
        for (std::size_t i = 0; i < count; ++i) out[i * classes_ + c] = sums_of(c)[i];
      return false;
    }
    for (std::size_t c = 0; c < classes_; ++c)  // before the sums are replaced by their exponentials
      for (std::size_t i = 0; i < count; ++i) out[i * classes_ + c] = sums_of(c)[i] - top_[i];
    for (std::size_t c = 0; c < classes_; ++c) kernels_.exponentials(sums_of(c), top_.data(), padded(count));
    std::fill_n(total_.data(), kBlock, 0.0);
    // log(1 + the others beside the best) keeps the digits of a posterior close to 1.
    for (std::size_t c = 0; c < classes_; ++c)
      for (std::size_t i = 0; i < count; ++i) total_[i] += best_[i] == static_cast<std::int32_t>(c) ? 0.0 : sums_of(c)[i];
    for (std::size_t i = 0; i < count; ++i) total_[i] = std::log1p(total_[i]);
    for (std::size_t c = 0; c < classes_; ++c)
      for (std::size_t i = 0; i < count; ++i) out[i * classes_ + c] -= total_[i];
    bool impossible = false;
    for (std::size_t i = 0; i < count && classes_ > 0; ++i) impossible = impossible || std::isnan(out[i * classes_]);
    return impossible;
  }

  const ScoreRequest& request_;
  const Kernels& kernels_ = kernels();
  std::size_t classes_;
  std::size_t width_;  // of a padded row of a table
  std::vector<double> sums_;
  std::vector<double> values_;
  std::vector<std::uint64_t> wide_;  // integers of four columns
  std::vector<double> top_;
  std::vector<double> total_;
  std::vector<std::int32_t> best_;
  std::vector<GaussianClass> normals_;  // term by term
  std::vector<std::vector<double>> padded_tables_;
  std::vector<const double*> tables_;
  std::vector<std::vector<std::uint32_t>> levels_;
  std::vector<const std::uint32_t*> level_rows_;
};

inline bool score(const ScoreRequest& request, Output output, double* out, std::int32_t* best) {
  return Scorer(request).run(output, out, best);
}

}  // namespace bayesbox
