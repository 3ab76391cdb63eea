// The loops of kernels.hpp, written once over `Lanes`. Included by one translation unit for each instruction set; all
// is in an unnamed namespace and nothing of the standard library is instantiated, so no function compiled for AVX2 or
// AVX-512 can be linked into the baseline.
#include <cstddef>
#include <cstdint>

#include "core/kernels.hpp"

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

namespace bayesbox {
namespace {

#include "core/lanes.hpp"

constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer

#include "core/posterior_lanes.hpp"

double power(int exponent) {  // 2^exponent for a normal result
  const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
  double value;
  __builtin_memcpy(&value, &bits, 8);
  return value;
}

constexpr std::size_t kAhead = 32;

template <bool Ordered>
void gather_four_rows(const char* base, std::int64_t stride, const std::uint32_t* order, std::size_t count,
                      void* const* out) {
  char *out0 = static_cast<char*>(out[0]), *out1 = static_cast<char*>(out[1]);
  char *out2 = static_cast<char*>(out[2]), *out3 = static_cast<char*>(out[3]);
  const auto at = [&](std::size_t i) { return base + static_cast<std::int64_t>(Ordered ? order[i] : i) * stride; };
  std::size_t i = 0;
#if defined(__AVX2__)
  const auto store = [](char* to, __m256d four) { _mm256_storeu_pd(reinterpret_cast<double*>(to), four); };
  for (; i + 4 <= count; i += 4) {
    if (Ordered && i + kAhead < count)  // rows of one class are too far apart for the machine to see them coming
      for (std::size_t k = 0; k < 4; ++k) _mm_prefetch(at(i + kAhead + k), _MM_HINT_T0);
    const __m256d a = _mm256_loadu_pd(reinterpret_cast<const double*>(at(i)));
    const __m256d b = _mm256_loadu_pd(reinterpret_cast<const double*>(at(i + 1)));
    const __m256d c = _mm256_loadu_pd(reinterpret_cast<const double*>(at(i + 2)));
    const __m256d d = _mm256_loadu_pd(reinterpret_cast<const double*>(at(i + 3)));
    const __m256d ab_even = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
    const __m256d cd_even = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
    store(out0 + 8 * i, _mm256_permute2f128_pd(ab_even, cd_even, 0x20));
    store(out1 + 8 * i, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20));
    store(out2 + 8 * i, _mm256_permute2f128_pd(ab_even, cd_even, 0x31));
    store(out3 + 8 * i, _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31));
  }
#endif
  for (; i < count; ++i) {
    const char* row = at(i);
    __builtin_memcpy(out0 + 8 * i, row, 8);
    __builtin_memcpy(out1 + 8 * i, row + 8, 8);
    __builtin_memcpy(out2 + 8 * i, row + 16, 8);
    __builtin_memcpy(out3 + 8 * i, row + 24, 8);
  }
}

void gather_four(const char* base, std::int64_t stride, const std::uint32_t* order, std::size_t count,
                 void* const* out) {
  if (order != nullptr)
    gather_four_rows<true>(base, stride, order, count, out);
  else
    gather_four_rows<false>(base, stride, order, count, out);
}

#if defined(__AVX2__)
// For each set of eight bits the positions of those that are set, a byte each.
struct BitPositions {
  std::uint64_t of[256]{};

  constexpr BitPositions() {
    for (unsigned bits = 0; bits < 256; ++bits)
      for (unsigned position = 8; position-- > 0;)
        if (bits >> position & 1) of[bits] = of[bits] << 8 | position;
  }
};
constexpr BitPositions kBitPositions;
#endif

std::size_t rows_of(const std::int32_t* labels, std::size_t count, std::int32_t label, std::uint32_t* out) {
  std::size_t found = 0, row = 0;
#if defined(__AVX2__)
  const __m256i wanted = _mm256_set1_epi32(label), eight = _mm256_set1_epi32(8);
  __m256i first = _mm256_setzero_si256();
  for (; row + 8 <= count; row += 8, first = _mm256_add_epi32(first, eight)) {
    const __m256i same = _mm256_cmpeq_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(labels + row)), wanted);
    const auto bits = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
    const __m128i positions = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBitPositions.of + bits));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + found), _mm256_add_epi32(first, _mm256_cvtepu8_epi32(positions)));
    found += static_cast<std::size_t>(__builtin_popcount(bits));
  }
#endif
  for (; row < count; ++row) {
    out[found] = static_cast<std::uint32_t>(row);
    found += labels[row] == label;
  }
  return found;
}

RunScan scan(const double* values, std::size_t count) {
  Lanes top_a = Lanes::all(0.0), top_b = top_a;
  Mask nan_a = differ(top_a, top_a), nan_b = nan_a;
  constexpr std::size_t kStep = 2 * Lanes::width < kPad ? 2 * Lanes::width : kPad;
  for (std::size_t i = 0; i < count; i += kStep) {  // where a vector is a step, both are the same
    const Lanes a = Lanes::load(values + i), b = Lanes::load(values + i + kStep - Lanes::width);
    top_a = larger(absolute(a), top_a);
    top_b = larger(absolute(b), top_b);
    nan_a = either(nan_a, differ(a, a));
    nan_b = either(nan_b, differ(b, b));
  }
  double tops[Lanes::width];
  larger(top_a, top_b).store(tops);
  double largest = tops[0];
  for (std::size_t k = 1; k < Lanes::width; ++k) largest = tops[k] > largest ? tops[k] : largest;
  return {largest, either(nan_a, nan_b).bits() != 0};
}

// Error-free splitting. With |x| < 2^E and units u1 = 2^(E-21), u2 = 2^(E-43), u3 = 2^(E-65), adding and taking away
// 1.5 * 2^52 * u rounds to a multiple of u, and the rest is exact: x = h1 + h2 + h3 with |h1| <= 2^21 u1 and
// |h2| <= 2^21 u2, |h3| <= 2^21 u3. h3 is a multiple of u3 unless |x| < 2^(E-13); such x are looked at again, and set
// aside where it is not. In units, a lane's sum of 1024 terms then stays within 2^53 for each of h1, h2 + h3 (2^43 a
// term), h1 h1, h1 h2, h1 h3, h2 h2, h2 h3 and h3 h3 (2^42): all are exact in plain doubles.
constexpr std::size_t kMostTerms = 1024;
constexpr int kUnit1 = -21, kUnit2 = -43, kUnit3 = -65, kLarge = -13;

struct Pieces {
  Lanes x, h1, rest, h2, h3;

  Pieces(Lanes given, Lanes round1, Lanes round2) : x(given) {
    h1 = (x + round1) - round1;
    rest = x - h1;
    h2 = (rest + round2) - round2;
    h3 = rest - h2;
  }

  // Writes those of `values` that have a rest to `left_over` and becomes zero there; how many they are.
  std::size_t set_aside(const double* values, Lanes round3, double* left_over) {
    const Mask residual = differ((h3 + round3) - round3, h3);
    const unsigned bits = residual.bits();
    std::size_t left = 0;
    for (std::size_t k = 0; k < Lanes::width; ++k) {
      left_over[left] = values[k];
      left += bits >> k & 1;
    }
    h1 = drop(h1, residual);
    rest = drop(rest, residual);
    h2 = drop(h2, residual);
    h3 = drop(h3, residual);
    return left;
  }
};

SplitCounts split(const double* values, std::size_t count, int exponent, double* left_over, PieceLanes& sums,
                  Ahead ahead) {
  const auto rounding = [&](int unit) { return Lanes::all(1.5 * power(exponent + unit + 52)); };
  const Lanes round1 = rounding(kUnit1), round2 = rounding(kUnit2), round3 = rounding(kUnit3);
  const Lanes large = Lanes::all(power(exponent + kLarge));
  Lanes sum1 = Lanes::load(sums.first), rests = Lanes::load(sums.rest), sum11 = Lanes::load(sums.first_first);
  Lanes sum12 = Lanes::load(sums.first_second), sum13 = Lanes::load(sums.first_third);
  Lanes sum22 = Lanes::load(sums.second_second), sum23 = Lanes::load(sums.second_third);
  Lanes sum33 = Lanes::load(sums.third_third);
  const Lanes one = Lanes::all(1.0);  // some sums by the units that multiply: those that add have more to do
  std::size_t fractional = 0, left = 0;
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    Pieces piece(Lanes::load(values + i), round1, round2);
    __builtin_prefetch(ahead.at + ahead.step * i, 0, 2);
    fractional += differ(piece.x, nearest(piece.x)).count();
    if (__builtin_expect(below(absolute(piece.x), large).bits() != 0, 0))
      left += piece.set_aside(values + i, round3, left_over + left);
    sum1 = fused_exact(piece.h1, one, sum1);
    rests = fused_exact(piece.rest, one, rests);
    sum11 = fused_exact(piece.h1, piece.h1, sum11);
    sum12 = fused_exact(piece.h1, piece.h2, sum12);
    sum13 = fused_exact(piece.h1, piece.h3, sum13);
    sum22 = fused_exact(piece.h2, piece.h2, sum22);
    sum23 = fused_exact(piece.h2, piece.h3, sum23);
    sum33 = fused_exact(piece.h3, piece.h3, sum33);
  }
  sum1.store(sums.first);
  rests.store(sums.rest);
  sum11.store(sums.first_first);
  sum12.store(sums.first_second);
  sum13.store(sums.first_third);
  sum22.store(sums.second_second);
  sum23.store(sums.second_third);
  sum33.store(sums.third_third);
  return {fractional, left};
}

// Sums that are integers within 2^53 times 2^unit, lane by lane, as one integer.
std::int64_t whole(const double* sums, int unit) {
  double each[Lanes::width];
  (Lanes::load(sums) * Lanes::all(power(-unit))).store(each);
  std::int64_t total = 0;
  for (std::size_t k = 0; k < Lanes::width; ++k) total += static_cast<std::int64_t>(each[k]);
  return total;
}

PieceSums in_units(const PieceLanes& sums, int exponent) {
  const int unit1 = exponent + kUnit1, unit2 = exponent + kUnit2, unit3 = exponent + kUnit3;
  return {whole(sums.first, unit1),
          whole(sums.rest, unit3),
          whole(sums.first_first, 2 * unit1),
          whole(sums.first_second, unit1 + unit2),
          whole(sums.first_third, unit1 + unit3),
          whole(sums.second_second, 2 * unit2),
          whole(sums.second_third, unit2 + unit3),
          whole(sums.third_third, 2 * unit3)};
}

// Whether a value is NaN; infinite values of both signs in one row may count as NaN.
bool any_nan(const double* const* values, std::size_t columns, std::size_t count) {
  Mask found = differ(Lanes::all(0.0), Lanes::all(0.0));
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    Lanes sum = Lanes::load(values[0] + i);
    for (std::size_t k = 1; k < columns; ++k) sum = sum + Lanes::load(values[k] + i);
    found = either(found, differ(sum, sum));
  }
  return found.bits() != 0;
}

// A column whose deviation has no inverse, as it is too small or infinite.
void add_by_division(const double* values, std::size_t count, const GaussianClass& normal, double* to) {
  const Lanes mean = Lanes::all(normal.mean), rest = Lanes::all(normal.rest), constant = Lanes::all(normal.constant);
  const Lanes deviation = Lanes::all(normal.deviation), half = Lanes::all(0.5), zero = Lanes::all(0.0);
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    const Lanes x = Lanes::load(values + i);
    const Lanes distance = (x - mean) - rest;
    const Lanes z = drop(distance / deviation, equal(distance, zero));  // 0 / 0 is no distance, not NaN
    (Lanes::load(to + i) + keep(constant - (z * z) * half, equal(x, x))).store(to + i);
  }
}

// What is wanted next for a line of values.
void fetch(const Ahead& ahead, std::size_t value) {
  __builtin_prefetch(ahead.at + ahead.step * value, 0, 2);
  if (ahead.step > sizeof(double)) __builtin_prefetch(ahead.at + ahead.step * value + 64, 0, 2);
}

// The terms of some columns together: the constants less half the squares. Holes or none, a row without any is summed
// in the same order.
template <std::size_t Columns, bool Holes, bool Rest>
void add_by_inverse(const double* const* values, std::size_t count, const GaussianClass* const* normals, double* to,
                    const Ahead* ahead) {
  // Copies, which no store through `to` can change: they stay in registers.
  const Ahead one = ahead[0], two = ahead[1];
  const double* column[Columns];
  Lanes mean[Columns], rest[Columns], inverse[Columns], own[Columns];
  double constant = 0;
  for (std::size_t k = 0; k < Columns; ++k) {
    column[k] = values[k];
    mean[k] = Lanes::all(normals[k]->mean), rest[k] = Lanes::all(normals[k]->rest);
    inverse[k] = Lanes::all(normals[k]->inverse), own[k] = Lanes::all(normals[k]->constant);
    constant = k == 0 ? normals[k]->constant : constant + normals[k]->constant;
  }
  const auto add = [&](std::size_t i) {
    Lanes squares = Lanes::all(0.0), constants = Lanes::all(constant);
    for (std::size_t k = 0; k < Columns; ++k) {
      const Lanes x = Lanes::load(column[k] + i), distance = x - mean[k];
      const Lanes z = (Rest ? distance - rest[k] : distance) * inverse[k];
      const Lanes square = Holes ? keep(z * z, equal(x, x)) : z * z;
      squares = k == 0 ? square : squares + square;
      if (!Holes) continue;
      const Lanes present = keep(own[k], equal(x, x));
      constants = k == 0 ? present : constants + present;
    }
    (Lanes::load(to + i) + (constants - squares * Lanes::all(0.5))).store(to + i);
  };
  for (std::size_t i = 0; i < count; i += kPad) {  // a line of the cache
    fetch(one, i);
    fetch(two, i);
    for (std::size_t k = 0; k < kPad; k += Lanes::width) add(i + k);
  }
}

template <std::size_t Columns>
void add_by_inverse(const double* const* values, std::size_t count, const GaussianClass* const* normals, bool holes,
                    double* to, const Ahead* ahead) {
  bool rest = false;
  for (std::size_t k = 0; k < Columns; ++k) rest = rest || normals[k]->by_rest;
  if (holes)
    (rest ? add_by_inverse<Columns, true, true> : add_by_inverse<Columns, true, false>)(values, count, normals, to, ahead);
  else
    (rest ? add_by_inverse<Columns, false, true> : add_by_inverse<Columns, false, false>)(values, count, normals, to, ahead);
}

void add_gaussians(const double* const* values, std::size_t columns, std::size_t count, bool holes,
                   const GaussianClass* classes, std::size_t class_count, double* sums, std::size_t row_stride,
                   const Ahead* ahead) {
  for (std::size_t c = 0; c < class_count; ++c) {
    double* to = sums + c * row_stride;
    const GaussianClass* normals[4];
    bool together = true;
    for (std::size_t k = 0; k < columns; ++k) {
      normals[k] = classes + k * class_count + c;
      together = together && normals[k]->by_inverse;
    }
    // Two columns are fetched for a class, as more would wait for each other: the first two, then the last two.
    const Ahead* two = ahead + (c == 1 && columns > 2 ? columns - 2 : 0);
    if (together && columns == 4) {
      add_by_inverse<4>(values, count, normals, holes, to, two);
    } else if (together && columns == 3) {
      add_by_inverse<3>(values, count, normals, holes, to, two);
    } else if (together && columns == 2) {
      add_by_inverse<2>(values, count, normals, holes, to, two);
    } else {
      for (std::size_t k = 0; k < columns; ++k) {
        const Ahead own[2] = {ahead[k], ahead[k]};
        if (normals[k]->by_inverse)
          add_by_inverse<1>(values + k, count, normals + k, holes, to, own);
        else
          add_by_division(values[k], count, *normals[k], to);
      }
    }
  }
}

template <std::size_t Columns, bool Holes>
void leave_columns_out(const double* const* values, std::size_t count, const LeftOut* const* left, double* sums,
                       double* variances, std::uint8_t* unsure) {
  const Lanes half = Lanes::all(0.5), one = Lanes::all(1.0);
  struct Of {
    const double* values;
    Lanes mean, rest, scale, ratio, squares, share, constant, radius;
  } columns[Columns];  // copies, which no store can change
  for (std::size_t k = 0; k < Columns; ++k) {
    const LeftOut& from = *left[k];
    columns[k] = {values[k],
                  Lanes::all(from.mean),
                  Lanes::all(from.rest),
                  Lanes::all(from.scale),
                  Lanes::all(from.ratio),
                  Lanes::all(from.squares),
                  Lanes::all(from.share),
                  Lanes::all(from.constant),
                  Lanes::all(from.radius)};
  }
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    Lanes sum = Lanes::load(sums + i), product = Lanes::load(variances + i);
    Mask doubt = below(one, one);
    for (std::size_t k = 0; k < Columns; ++k) {
      const Of& column = columns[k];
      const Lanes x = Lanes::load(column.values + i), distance = ((x - column.mean) - column.rest) * column.scale;
      const Lanes wider = distance * column.ratio, variance = (column.squares - distance * wider) * column.share;
      const Lanes term = column.constant - half * (wider * wider) / variance;
      doubt = either(doubt, below(column.radius, absolute(distance)));
      sum = sum + (Holes ? keep(term, equal(x, x)) : term);
      product = product * (Holes ? keep(variance, equal(x, x)) + drop(one, equal(x, x)) : variance);
    }
    sum.store(sums + i);
    product.store(variances + i);
    if (const unsigned bits = doubt.bits(); __builtin_expect(bits != 0, 0))
      for (std::size_t k = 0; k < Lanes::width; ++k) unsure[i + k] |= bits >> k & 1;
  }
}

void leave_one_out(const double* const* values, std::size_t columns, std::size_t count, bool holes,
                   const LeftOut* const* left, double* sums, double* variances, std::uint8_t* unsure) {
  if (columns == 4)
    (holes ? leave_columns_out<4, true> : leave_columns_out<4, false>)(values, count, left, sums, variances, unsure);
  else
    for (std::size_t k = 0; k < columns; ++k)
      (holes ? leave_columns_out<1, true> : leave_columns_out<1, false>)(values + k, count, left + k, sums, variances, unsure);
}

constexpr Kernels kKernels{gather_four, rows_of, scan, split, in_units, kMostTerms * Lanes::width, any_nan, add_gaussians, leave_one_out, best, logarithms, logarithms_beside_one, exponentials,
                           in_parts<posteriors_of_some>, in_parts<log_posteriors_of_some>, log_sums};

}  // namespace
}  // namespace bayesbox
