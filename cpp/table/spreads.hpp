// Means and deviations of many columns by class, from exact moments, each rounded once.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/exact_array.hpp"
#include "core/interrupt.hpp"
#include "core/wide_integer.hpp"
#include "table/moments.hpp"
#include "table/short_spreads.hpp"
#include "table/spread.hpp"

namespace bayesbox {

class SpreadReader {
 public:
  // The spread of a cell of three exact arrays; nothing where its numbers have too many digits, or where a result is not
  // a normal double.
  std::optional<Spread> read(const ExactArray& n, const ExactArray& total, const ExactArray& squares, std::size_t cell) {
    n.magnitude(cell, scratch_);
    const std::optional<WideInteger> count = WideInteger::of(scratch_);
    if (!count || count->negative) return std::nullopt;
    excess_ = WideInteger{};
    Spread found;
    if (count->is_zero()) return found;
    const std::optional<std::uint64_t> divisor = count->word();
    total.magnitude(cell, scratch_);
    const std::optional<WideInteger> sum = WideInteger::of(scratch_);
    squares.magnitude(cell, scratch_);
    const std::optional<WideInteger> square_sum = WideInteger::of(scratch_);
    if (!divisor || !sum || !square_sum) return std::nullopt;
    divisor_ = *divisor;
    divisor_exponent_ = count->exponent;
    const auto mean = WideInteger::ratio<1>(*sum, {divisor_}, divisor_exponent_);
    const auto over = product(*count, *square_sum), under = product(*sum, *sum);
    if (!mean || !over || !under) return std::nullopt;
    const auto excess = difference(*over, *under);
    const auto all = product(WideInteger::of(*mean), *count);
    if (!excess || excess->negative || !all) return std::nullopt;
    const auto rest = difference(*sum, *all);
    if (!rest) return std::nullopt;
    const auto low = WideInteger::ratio<1>(*rest, {divisor_}, divisor_exponent_);
    const auto unit = WideInteger::root<2>(*excess, {divisor_, divisor_}, 2 * divisor_exponent_);
    if (!low || !unit) return std::nullopt;
    excess_ = *excess;
    found = {n.rounded(cell, scratch_), *mean, *low, *unit};
    return found;
  }

  // The root of a share of the variance that was read last.
  std::optional<double> least(const Floor& floor) const {
    if (excess_.is_zero() || floor.numerator == 0) return 0.0;
    const auto over = product(excess_, WideInteger::of_word(floor.numerator));
    if (!over) return std::nullopt;
    return WideInteger::root<3>(*over, {divisor_, divisor_, floor.denominator}, 2 * divisor_exponent_);
  }

 private:
  Magnitude scratch_;
  WideInteger excess_;
  std::uint64_t divisor_ = 1;
  std::int64_t divisor_exponent_ = 0;
};

// The spreads of many columns, one after the other.
class SpreadsOfColumns {
 public:
  // One column: the spread of each class and, last, of all of them; and the least deviation. Whether all could be read.
  bool read(const Moments& moments, const Floor& floor, Spread* out, double& least) {
    const std::size_t classes = moments.n.size();
    poll(64 * (classes + 1));
    if (short_.read(moments, floor, out, least)) return true;
    poll(512 * (classes + 1));
    std::fill(out, out + classes + 1, Spread{});
    least = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const auto found = reader_.read(moments.n, moments.total, moments.squares, c);
      if (!found) return false;
      out[c] = *found;
    }
    const auto whole = reader_.read(moments.n.sum_rows(1), moments.total.sum_rows(1), moments.squares.sum_rows(1), 0);
    if (!whole) return false;
    const auto floored = reader_.least(floor);
    if (!floored) return false;
    out[classes] = *whole;
    least = *floored;
    return true;
  }

 private:
  ShortSpreads short_;
  SpreadReader reader_;
};

// Whether the values of some class are seen to differ by their sums as doubles. Where they are not, they may.
inline bool clearly_differ(const Moments& moments) {
  Magnitude scratch;
  for (std::size_t c = 0; c < moments.n.size(); ++c) {
    const double n = moments.n.rounded(c, scratch), total = moments.total.rounded(c, scratch);
    const double both = n * moments.squares.rounded(c, scratch);
    if (n > 0 && both < std::numeric_limits<double>::max() && both - total * total > 1e-9 * both && both > 1e-280) return true;
  }
  return false;
}

// Whether some value of a column is not an integer.
inline bool has_fractional(const Moments& moments) {
  Magnitude scratch;
  for (std::size_t c = 0; c < moments.fractional.size(); ++c)
    if (moments.fractional.sign(c, scratch) != 0) return true;
  return false;
}

// Whether n and the sum of integers, as doubles, are those of 0 to n - 1 or of 1 to n.
inline bool may_number_rows(const Moments& moments) {
  Magnitude scratch;
  double n = 0, total = 0;
  for (std::size_t c = 0; c < moments.n.size(); ++c) {
    n += moments.n.rounded(c, scratch);
    total += moments.total.rounded(c, scratch);
  }
  const auto near = [&](double last) { return std::fabs(2 * total - last * (last + 1)) <= 1e-9 * last * (last + 1); };
  return near(n - 1) || near(n);
}

// What is seen of the values of a column from their sums; each may be more than is seen.
struct SeenOfNumbers {
  static constexpr std::uint8_t kDiffer = 1;       // see clearly_differ
  static constexpr std::uint8_t kBeyondFlags = 2;  // some are neither 0 nor 1
  static constexpr std::uint8_t kMayNumberRows = 4;
};

inline std::uint8_t seen_of_numbers(const Moments& moments) {
  if (!clearly_differ(moments)) return 0;
  if (has_fractional(moments)) return SeenOfNumbers::kDiffer | SeenOfNumbers::kBeyondFlags;
  // The square of an integer is larger, but for 0 and 1.
  const std::uint8_t beyond = moments.total == moments.squares ? 0 : SeenOfNumbers::kBeyondFlags;
  return SeenOfNumbers::kDiffer | beyond | (may_number_rows(moments) ? SeenOfNumbers::kMayNumberRows : 0);
}

}  // namespace bayesbox
