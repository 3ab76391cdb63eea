// The loops of row_kernels.hpp over `Lanes`. Included behind vector_kernels.hpp, under the same precautions.
#include "core/row_kernels.hpp"

namespace bayesbox {
namespace {

bool copy_rows(const char* base, std::int64_t stride, std::size_t rows, std::size_t vectors, const std::uint32_t* place, double* out,
               std::size_t step, double* largest) {
  constexpr std::size_t kAheadVectors = 64;  // that are fetched meanwhile, of rows below
  const std::int64_t ahead = stride * static_cast<std::int64_t>((kAheadVectors + vectors - 1) / vectors);
  for (std::size_t k = 0; k < vectors * kPad; ++k) largest[k] = 0;
  Mask nan = differ(Lanes::all(0.0), Lanes::all(0.0));
  for (std::size_t row = 0; row < rows; ++row, base += stride) {
    const double* values = reinterpret_cast<const double*>(base);
    double* to = out + kPad * place[row];
    for (std::size_t v = 0; v < vectors; ++v, values += kPad, to += step * kPad) {
      __builtin_prefetch(reinterpret_cast<const char*>(values) + ahead, 0, 3);
      for (std::size_t k = 0; k < kPad; k += Lanes::width) {
        const Lanes x = Lanes::load(values + k);
        larger(absolute(x), Lanes::load(largest + v * kPad + k)).store(largest + v * kPad + k);
        nan = either(nan, differ(x, x));
        x.store(to + k);
      }
    }
  }
  return nan.bits() != 0;
}

// As `split` in vector_kernels.hpp, where the roundings differ from lane to lane.
template <bool Missing>
std::size_t split_lanes(const double* rows, std::size_t count, std::size_t first, const RowScale& scale, RowSums& sums, RowAside* aside,
                        std::size_t found, Ahead ahead) {
  const Lanes round1 = Lanes::load(scale.round1 + first), round2 = Lanes::load(scale.round2 + first);
  const Lanes large = Lanes::load(scale.large + first), one = Lanes::all(1.0);
  PieceLanes& pieces = sums.pieces;
  Lanes sum1 = Lanes::load(pieces.first + first), rests = Lanes::load(pieces.rest + first);
  Lanes sum11 = Lanes::load(pieces.first_first + first), sum12 = Lanes::load(pieces.first_second + first);
  Lanes sum13 = Lanes::load(pieces.first_third + first), sum22 = Lanes::load(pieces.second_second + first);
  Lanes sum23 = Lanes::load(pieces.second_third + first), sum33 = Lanes::load(pieces.third_third + first);
  Lanes fractional = Lanes::load(sums.fractional + first), missing = Lanes::load(sums.missing + first);
  for (std::size_t i = 0; i < count; ++i) {
    Lanes x = Lanes::load(rows + i * kPad + first);
    __builtin_prefetch(ahead.at + ahead.step * i, 0, 2);
    if constexpr (Missing) {
      const Mask gone = differ(x, x);
      missing = missing + keep(one, gone);
      x = drop(x, gone);
    }
    Pieces piece(x, round1, round2);
    fractional = fractional + keep(one, differ(x, nearest(x)));
    if (__builtin_expect(below(absolute(x), large).bits() != 0, 0)) {
      const Mask residual = differ((piece.h3 + Lanes::load(scale.round3 + first)) - Lanes::load(scale.round3 + first), piece.h3);
      if (const unsigned bits = residual.bits(); bits != 0) {
        aside[found++] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(bits << first)};
        piece.h1 = drop(piece.h1, residual);
        piece.rest = drop(piece.rest, residual);
        piece.h2 = drop(piece.h2, residual);
        piece.h3 = drop(piece.h3, residual);
      }
    }
    sum1 = sum1 + piece.h1;
    rests = rests + piece.rest;
    sum11 = fused_exact(piece.h1, piece.h1, sum11);
    sum12 = fused_exact(piece.h1, piece.h2, sum12);
    sum13 = fused_exact(piece.h1, piece.h3, sum13);
    sum22 = fused_exact(piece.h2, piece.h2, sum22);
    sum23 = fused_exact(piece.h2, piece.h3, sum23);
    sum33 = fused_exact(piece.h3, piece.h3, sum33);
  }
  sum1.store(pieces.first + first);
  rests.store(pieces.rest + first);
  sum11.store(pieces.first_first + first);
  sum12.store(pieces.first_second + first);
  sum13.store(pieces.first_third + first);
  sum22.store(pieces.second_second + first);
  sum23.store(pieces.second_third + first);
  sum33.store(pieces.third_third + first);
  fractional.store(sums.fractional + first);
  if constexpr (Missing) missing.store(sums.missing + first);
  return found;
}

std::size_t split_rows(const double* rows, std::size_t count, const RowScale& scale, bool missing, RowSums& sums, RowAside* aside,
                       Ahead ahead) {
  std::size_t found = 0;
  for (std::size_t first = 0; first < kPad; first += Lanes::width)
    found = (missing ? split_lanes<true> : split_lanes<false>)(rows, count, first, scale, sums, aside, found, ahead);
  return found;
}

#if defined(__AVX2__)

// The codes of kPad doubles: sign, exponent and three bits of the mantissa, with the sign last.
__m128i codes_of(const double* values) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  const __m512i bits = _mm512_castpd_si512(_mm512_loadu_pd(values));
  const __m512i size = _mm512_slli_epi64(_mm512_srli_epi64(_mm512_slli_epi64(bits, 1), 50), 1);
  return _mm512_cvtepi64_epi16(_mm512_or_si512(size, _mm512_srli_epi64(bits, 63)));
#else
  const auto four = [](const double* from) {
    const __m256i bits = _mm256_castpd_si256(_mm256_loadu_pd(from));
    const __m256i size = _mm256_slli_epi64(_mm256_srli_epi64(_mm256_slli_epi64(bits, 1), 50), 1);
    return _mm256_or_si256(size, _mm256_srli_epi64(bits, 63));
  };
  const __m256i halves = _mm256_packus_epi32(four(values), four(values + 4));  // each code is followed by zeros: 0 1 4 5 | 2 3 6 7
  const __m256i codes = _mm256_permute4x64_epi64(halves, 0xd8);
  return _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
#endif
}

// Row k of the result is column k of the 8 x 8 words.
void transpose(__m128i* w) {
  __m128i a[8], b[8];
  for (int k = 0; k < 4; ++k) {
    a[2 * k] = _mm_unpacklo_epi16(w[k], w[k + 4]);
    a[2 * k + 1] = _mm_unpackhi_epi16(w[k], w[k + 4]);
  }
  for (int k = 0; k < 4; ++k) {
    b[2 * k] = _mm_unpacklo_epi16(a[k], a[k + 4]);
    b[2 * k + 1] = _mm_unpackhi_epi16(a[k], a[k + 4]);
  }
  for (int k = 0; k < 4; ++k) {
    w[2 * k] = _mm_unpacklo_epi16(b[k], b[k + 4]);
    w[2 * k + 1] = _mm_unpackhi_epi16(b[k], b[k + 4]);
  }
}

void encode_rows(const double* rows, std::size_t count, std::uint16_t* codes, std::size_t step, std::uint16_t* least,
                 std::uint16_t* most) {
  __m128i low = _mm_set1_epi16(-1), high = _mm_setzero_si128();
  for (std::size_t i = 0; i < count; i += kPad) {
    __m128i words[kPad];
    for (std::size_t k = 0; k < kPad; ++k) {
      words[k] = codes_of(rows + (i + k < count ? i + k : count - 1) * kPad);
      low = _mm_min_epu16(low, words[k]);
      high = _mm_max_epu16(high, words[k]);
    }
    transpose(words);
    for (std::size_t k = 0; k < kPad; ++k) _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + k * step + i), words[k]);
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(least), low);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(most), high);
}

#else

void encode_rows(const double* rows, std::size_t count, std::uint16_t* codes, std::size_t step, std::uint16_t* least,
                 std::uint16_t* most) {
  for (std::size_t k = 0; k < kPad; ++k) {
    least[k] = 0xffff;
    most[k] = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bits;
      __builtin_memcpy(&bits, rows + i * kPad + k, 8);
      const auto code = static_cast<std::uint16_t>(bits << 1 >> 50 << 1 | bits >> 63);
      codes[k * step + i] = code;
      least[k] = code < least[k] ? code : least[k];
      most[k] = code > most[k] ? code : most[k];
    }
  }
}

#endif

constexpr RowKernels kRowKernels{copy_rows, split_rows, encode_rows};

}  // namespace
}  // namespace bayesbox
