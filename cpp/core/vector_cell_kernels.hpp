// The loops of cell_kernels.hpp over `Lanes`. Included behind vector_kernels.hpp, under the same precautions.
#include "core/cell_kernels.hpp"

namespace bayesbox {
namespace {

constexpr double kLeastLogged = 0x1p-1000, kMostLogged = 0x1p1000;  // within which `logarithm` is right
constexpr double kNearOne = 0.41;  // 1 + s is below the root of 2

Lanes pick(const double* table, const std::uint32_t* at) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  const __m256d low = _mm256_setr_pd(table[at[0]], table[at[1]], table[at[2]], table[at[3]]);  // sooner there than a gather
  const __m256d high = _mm256_setr_pd(table[at[4]], table[at[5]], table[at[6]], table[at[7]]);
  return {_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1)};
#elif defined(__AVX2__) && defined(__FMA__)
  return {_mm256_setr_pd(table[at[0]], table[at[1]], table[at[2]], table[at[3]])};
#elif defined(__SSE4_1__)
  return {_mm_setr_pd(table[at[0]], table[at[1]])};
#else
  return {{table[at[0]], table[at[1]]}};
#endif
}

// log(1 + f) as in `logarithm`, for f between the root of 1/2 and that of 2, less 1
struct NearOne {
  Lanes half_square, small;

  static NearOne of(Lanes f) {
    constexpr double c[] = {0.6666666666666734,  0.39999999999414676, 0.28571428742388505, 0.22222198573082885,
                            0.1818356433186436,  0.15314050394799053, 0.14795951368566837};
    const Lanes s = f / (Lanes::all(2.0) + f), s2 = s * s, s4 = s2 * s2;
    const auto pair = [&](int k) { return Lanes::all(c[k]) + s2 * Lanes::all(c[k + 1]); };
    const Lanes series = pair(0) + s4 * (pair(2) + s4 * (pair(4) + s4 * Lanes::all(c[6])));
    const Lanes half_square = f * f * Lanes::all(0.5);
    return {half_square, s * (half_square + s2 * series)};
  }
};

// log(1 + s) for 0 <= s, at most 2^500. Where 1 + s is below the root of 2, s is taken as it is and not from the rounded
// sum; beyond it that sum has digits enough. A lane has the same bits whatever the others hold.
Lanes log_beside_one(Lanes s) {
  const Lanes one = Lanes::all(1.0), zero = Lanes::all(0.0);
  if (__builtin_expect((below(s, Lanes::all(kNearOne)).bits() + 1) >> Lanes::width != 0, 1)) {
    const NearOne near = NearOne::of(s);
    return s - (near.half_square - near.small);
  }
  const Lanes u = one + s, n = exponent(u * Lanes::all(1.4142135623730951));
  const Mask is_near = equal(n, zero);
  const Lanes f = keep(s, is_near) + drop(u * power_of_two(Lanes::all(kShift) - n) - one, is_near);
  const NearOne near = NearOne::of(f);
  return n * Lanes::all(kLog2Head) + (f - (near.half_square - (near.small + n * Lanes::all(kLog2Tail))));
}

// Loops of their own, as the first becomes one of vectors.
void find_runs(const double* values, std::size_t count, const CellScale& scale, std::uint32_t* run) {
  std::int32_t keys[256];
  const std::int32_t least = scale.least, most = scale.most, sizes = most - least + 1;
  for (std::size_t begin = 0; begin < count; begin += 256) {
    const std::size_t some = count - begin < 256 ? count - begin : 256;
    for (std::size_t i = 0; i < some; ++i) {
      const double value = values[begin + i] + 0.0;  // no zero has a sign
      std::uint64_t bits;
      __builtin_memcpy(&bits, &value, 8);
      const auto high = static_cast<std::int32_t>(bits >> 32);
      const std::int32_t size = (high & 0x7fffffff) >> 17, above = size < least ? least : size;
      keys[i] = (((above < most ? above : most) - least) ^ (high >> 31)) + sizes;  // the other way round for negative ones
    }
    const std::uint16_t* const run_of = scale.run_of;
    std::uint32_t* const found = run + begin;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < some; ++i) found[i] = run_of[static_cast<std::uint32_t>(keys[i])];
  }
}

Mask beyond_log(Lanes value) {
  return either(below(value, Lanes::all(kLeastLogged)), below(Lanes::all(kMostLogged), value));
}

template <bool IsLog, bool Commons>
std::size_t place_some(const double* values, std::size_t count, const CellScale& scale, double* place, double* lift,
                       const std::uint32_t* run, std::uint16_t* aside, double* commons) {
  const Lanes base = Lanes::all(scale.base), shift = Lanes::all(scale.common.shift);
  const Lanes inverse = Lanes::all(scale.common.inverse), one = Lanes::all(1.0), most = Lanes::all(kMostCellSquare);
  const Lanes apart = Lanes::all(scale.zero_apart ? 0.0 : __builtin_nan(""));
  if constexpr (IsLog)  // a loop of its own, as each logarithm is a long wait
    for (std::size_t i = 0; i < count; i += Lanes::width) {
      const Lanes value = Lanes::load(values + i);
      const Mask beyond = beyond_log(value);
      logarithm(drop(value, beyond) + keep(one, beyond), Lanes::all(0.0)).store(place + i);
    }
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    const Lanes value = Lanes::load(values + i);
    Mask out = equal(value, apart);
    if constexpr (IsLog) out = either(out, beyond_log(value));
    const Lanes x = IsLog ? Lanes::load(place + i) : value;
    const Lanes away = x - base, y = (away - shift) * inverse, s = y * y;
    out = either(out, either(below(most, s), either(differ(s, s), equal(most, s))));
    const Lanes whole = one + s;
    drop(away, out).store(place + i);
    drop(whole * whole, out).store(lift + i);
    if constexpr (Commons) {
      Lanes term = pick(scale.common_heights, run + i) - Lanes::all(2.0) * log_beside_one(drop(s, out));
      if constexpr (IsLog) term = term - x;
      (Lanes::load(commons + i) + drop(term, out)).store(commons + i);
    }
    if (const unsigned bits = out.bits(); bits != 0)
      for (std::size_t k = 0; k < Lanes::width; ++k) {
        aside[found] = static_cast<std::uint16_t>(i + k);
        found += bits >> k & 1;
      }
  }
  return found;
}

std::size_t place_cells(const double* values, std::size_t count, const CellScale& scale, double* place, double* lift,
                        std::uint32_t* run, std::uint16_t* aside, double* commons) {
  find_runs(values, count, scale, run);
  const auto some = scale.is_log ? (commons != nullptr ? place_some<true, true> : place_some<true, false>)
                                 : (commons != nullptr ? place_some<false, true> : place_some<false, false>);
  return some(values, count, scale, place, lift, run, aside, commons);
}

// log2 of (1 + s)^-power. Few digits of it are needed where it is large, as it is that of a share. With a large power most
// s are small, and take a short polynomial: of t^2, times t, with t = s / (2 + s) (the error is 7e-16), and with a huge one
// of s alone (3e-16); others have the digits of the long one. Each lane takes its own, whatever the others hold.
enum class Power { any, large, huge };
constexpr double kLargePower = 100, kHugePower = 5000;  // beyond which s is small within 3.5 and 6 scales

template <Power Size>
struct TailPower {
  static constexpr double kSmall = Size == Power::huge ? 0x1p-8 : 0x1p-4;
  Lanes factor, small[5];

  static TailPower of(double power) {
    constexpr double of_t[] = {1.9999999999999987, 0.6666666667097477, 0.3999997654533332, 0.2861228293352662, 0};
    constexpr double of_s[] = {0.9999999999999997, -0.49999999999624173, 0.33333332563369583, -0.24999447660991816,
                               0.19838121080630206};
    const double factor = -1.4426950408889634 * power;
    TailPower made;
    made.factor = Lanes::all(factor);
    for (int k = 0; k < 5; ++k) made.small[k] = Lanes::all(factor * (Size == Power::huge ? of_s : of_t)[k]);
    return made;
  }

  Lanes operator()(Lanes s) const {
    if constexpr (Size == Power::any) return large(s);
    const Mask is_small = below(s, Lanes::all(kSmall));
    Lanes found;
    if constexpr (Size == Power::huge) {
      found = s * (small[0] + s * (small[1] + s * (small[2] + s * (small[3] + s * small[4]))));
    } else {
      const Lanes t = s / (Lanes::all(2.0) + s), t2 = t * t;
      found = t * (small[0] + t2 * (small[1] + t2 * (small[2] + t2 * small[3])));
    }
    if (__builtin_expect((is_small.bits() + 1) >> Lanes::width != 0, 1)) return found;
    return keep(found, is_small) + drop(large(s), is_small);
  }

 private:
  Lanes large(Lanes s) const {
    constexpr double c[] = {2.0, 0.6666666666666765, 0.3999999999930234, 0.2857142876064168,
                            0.22222197056726048, 0.18183631680229329, 0.1531252814836419, 0.14809710360655276};
    const Lanes one = Lanes::all(1.0), u = one + s, n = exponent(u * Lanes::all(1.4142135623730951));
    const Mask is_near = equal(n, Lanes::all(0.0));
    const Lanes f = keep(s, is_near) + drop(u * power_of_two(Lanes::all(kShift) - n) - one, is_near);
    const Lanes t = f / (Lanes::all(2.0) + f), t2 = t * t, t4 = t2 * t2;
    const auto pair = [&](int k) { return Lanes::all(c[k]) + t2 * Lanes::all(c[k + 1]); };
    const Lanes series = (pair(0) + t4 * pair(2)) + (t4 * t4) * (pair(4) + t4 * pair(6));
    return factor * (n * Lanes::all(kLog2Head + kLog2Tail) + t * series);
  }
};

// 2^x for -1010 <= x <= 0 in two steps: x = n + f with |f| <= 1/2; 2^f = 1 + f series, the error of which is 6e-16.
struct PowerOfTwo {
  Lanes shifted;  // n + kShift
  Lanes f;

  static PowerOfTwo of(Lanes x) {
    const Lanes shift = Lanes::all(kShift), shifted = x + shift;
    return {shifted, x - (shifted - shift)};
  }

  Lanes value() const {
    constexpr double c[] = {0.6931471805599462,    0.24022650695910075,    0.05550410866465167,   0.009618129107618665,
                            0.0013333558200794592, 0.00015403530424776529, 1.5252672924850737e-05, 1.3215451633221434e-06,
                            1.0205905413765595e-07, 7.070977866508139e-09};
    const auto pair = [&](int k) { return Lanes::all(c[k]) + f * Lanes::all(c[k + 1]); };
    const Lanes f2 = f * f, f4 = f2 * f2;
    const Lanes low = pair(0) + f2 * pair(2), high = pair(4) + f2 * pair(6) + f4 * pair(8);
    return (Lanes::all(1.0) + f * (low + f4 * high)) * power_of_two(shifted);
  }
};

// In two rounds of short steps, as in `exponentials`.
template <Power Size>
void multiply_tails(const double* place, const double* lift, const std::uint32_t* run, std::size_t count,
                    const CellTail& tail, const double* ratios, double* products) {
  constexpr std::size_t kVectors = 16;
  const Lanes shift = Lanes::all(tail.shift), inverse = Lanes::all(tail.inverse), one = Lanes::all(1.0);
  const Lanes nothing = Lanes::all(-1000.0);  // beside 1, as the ratios and lifts are bounded
  const auto log_tail = TailPower<Size>::of(tail.power);
  PowerOfTwo powers[kVectors];
  for (std::size_t first = 0; first < count; first += kVectors * Lanes::width) {
    const std::size_t left = (count - first) / Lanes::width, vectors = left < kVectors ? left : kVectors;
    for (std::size_t v = 0; v < vectors; ++v) {
      const Lanes y = (Lanes::load(place + first + v * Lanes::width) - shift) * inverse;
      powers[v] = PowerOfTwo::of(larger(log_tail(y * y), nothing));
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t i = first + v * Lanes::width;
      const Lanes ratio = pick(ratios, run + i) * Lanes::load(lift + i);
      (Lanes::load(products + i) * (one + ratio * powers[v].value())).store(products + i);
    }
  }
}

void multiply_cells(const double* place, const double* lift, const std::uint32_t* run, std::size_t count,
                    const CellTail& tail, const double* ratios, double* products) {
  const auto multiply = tail.power > kHugePower    ? multiply_tails<Power::huge>
                        : tail.power > kLargePower ? multiply_tails<Power::large>
                                                   : multiply_tails<Power::any>;
  multiply(place, lift, run, count, tail, ratios, products);
}

void add_cell_logs(const double* products, const double* commons, std::size_t count, double weight, double* sums) {
  const Lanes zero = Lanes::all(0.0), times = Lanes::all(weight);
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    Lanes term = logarithm(Lanes::load(products + i), zero);
    if (commons != nullptr) term = term + Lanes::load(commons + i);
    (Lanes::load(sums + i) + times * term).store(sums + i);
  }
}

constexpr CellKernels kCellKernels{place_cells, multiply_cells, add_cell_logs};

}  // namespace
}  // namespace bayesbox
