// A few doubles side by side: eight with AVX-512, four with AVX2, two otherwise. Included only by vector_kernels.hpp, inside an unnamed
// namespace, so that each translation unit keeps its own copy compiled for its own instruction set.
//
// `fused_exact` may round once or twice: it is used only where the product and the sum are exact, so that a fused
// and a separate multiply-add give the same bits. All else is one IEEE operation a lane, the same in every version.
// `has_sign` is of zeros too. `store_apart` puts the lanes `step` doubles from each other.
#if defined(__AVX512F__) && defined(__AVX512DQ__)

typedef std::uint64_t EightWords __attribute__((vector_size(64)));

struct Lanes {
  static constexpr std::size_t width = 8;
  __m512d v;

  static Lanes all(double x) { return {_mm512_set1_pd(x)}; }
  static Lanes load(const double* from) { return {_mm512_loadu_pd(from)}; }
  void store(double* to) const { _mm512_storeu_pd(to, v); }
  void store_apart(double* to, std::size_t step) const {
    const __m256d halves[2] = {_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1)};
    for (const __m256d half : halves) {
      const __m128d low = _mm256_castpd256_pd128(half), high = _mm256_extractf128_pd(half, 1);
      _mm_storel_pd(to, low);
      _mm_storeh_pd(to + step, low);
      _mm_storel_pd(to + 2 * step, high);
      _mm_storeh_pd(to + 3 * step, high);
      to += 4 * step;
    }
  }
};
struct Mask {
  __mmask8 v;
  unsigned bits() const { return v; }
  std::size_t count() const { return static_cast<std::size_t>(__builtin_popcount(bits())); }
};
inline Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_pd(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {_mm512_sub_pd(a.v, b.v)}; }
inline Lanes operator*(Lanes a, Lanes b) { return {_mm512_mul_pd(a.v, b.v)}; }
inline Lanes operator/(Lanes a, Lanes b) { return {_mm512_div_pd(a.v, b.v)}; }
inline Lanes fused_exact(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_pd(a.v, b.v, c.v)}; }
// a where a > b, else b: so b where a is NaN
inline Lanes larger(Lanes a, Lanes b) { return {_mm512_max_pd(a.v, b.v)}; }
inline Lanes smaller(Lanes a, Lanes b) { return {_mm512_min_pd(a.v, b.v)}; }
inline Lanes square_root(Lanes a) { return {_mm512_sqrt_pd(a.v)}; }
inline Lanes absolute(Lanes a) { return {_mm512_andnot_pd(_mm512_set1_pd(-0.0), a.v)}; }
inline Lanes nearest(Lanes a) { return {_mm512_roundscale_pd(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline Mask differ(Lanes a, Lanes b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_NEQ_UQ)}; }
inline Mask equal(Lanes a, Lanes b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_EQ_OQ)}; }
inline Mask below(Lanes a, Lanes b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ)}; }
inline Mask either(Mask a, Mask b) { return {static_cast<__mmask8>(a.v | b.v)}; }
inline Mask has_sign(Lanes a) { return {_mm512_movepi64_mask(_mm512_castpd_si512(a.v))}; }
inline Lanes keep(Lanes a, Mask where) { return {_mm512_maskz_mov_pd(where.v, a.v)}; }
inline Lanes drop(Lanes a, Mask where) { return {_mm512_maskz_mov_pd(static_cast<__mmask8>(~where.v), a.v)}; }
// 2^n, where `shifted` = n + 1.5 * 2^52: the low bits of that sum hold n
inline Lanes power_of_two(Lanes shifted) {
  return {reinterpret_cast<__m512d>((reinterpret_cast<EightWords>(shifted.v) + 1023) << 52)};
}
// n, where a = 2^n m with 1 <= m < 2
inline Lanes exponent(Lanes a) {
  const auto biased = reinterpret_cast<__m512d>(reinterpret_cast<EightWords>(a.v) >> 52);
  return {_mm512_sub_pd(_mm512_or_pd(biased, _mm512_set1_pd(0x1p52)), _mm512_set1_pd(0x1p52 + 1023))};
}

#elif defined(__AVX2__) && defined(__FMA__)

struct Lanes {
  static constexpr std::size_t width = 4;
  __m256d v;

  static Lanes all(double x) { return {_mm256_set1_pd(x)}; }
  static Lanes load(const double* from) { return {_mm256_loadu_pd(from)}; }
  void store(double* to) const { _mm256_storeu_pd(to, v); }
  void store_apart(double* to, std::size_t step) const {
    const __m128d low = _mm256_castpd256_pd128(v), high = _mm256_extractf128_pd(v, 1);
    _mm_storel_pd(to, low);
    _mm_storeh_pd(to + step, low);
    _mm_storel_pd(to + 2 * step, high);
    _mm_storeh_pd(to + 3 * step, high);
  }
};
struct Mask {
  __m256d v;
  unsigned bits() const { return static_cast<unsigned>(_mm256_movemask_pd(v)); }
  std::size_t count() const { return static_cast<std::size_t>(__builtin_popcount(bits())); }
};
inline Lanes operator+(Lanes a, Lanes b) { return {_mm256_add_pd(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {_mm256_sub_pd(a.v, b.v)}; }
inline Lanes operator*(Lanes a, Lanes b) { return {_mm256_mul_pd(a.v, b.v)}; }
inline Lanes operator/(Lanes a, Lanes b) { return {_mm256_div_pd(a.v, b.v)}; }
inline Lanes fused_exact(Lanes a, Lanes b, Lanes c) { return {_mm256_fmadd_pd(a.v, b.v, c.v)}; }
inline Lanes larger(Lanes a, Lanes b) { return {_mm256_max_pd(a.v, b.v)}; }
inline Lanes smaller(Lanes a, Lanes b) { return {_mm256_min_pd(a.v, b.v)}; }
inline Lanes square_root(Lanes a) { return {_mm256_sqrt_pd(a.v)}; }
inline Lanes absolute(Lanes a) { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)}; }
inline Lanes nearest(Lanes a) { return {_mm256_round_pd(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline Mask differ(Lanes a, Lanes b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_NEQ_UQ)}; }
inline Mask equal(Lanes a, Lanes b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_EQ_OQ)}; }
inline Mask below(Lanes a, Lanes b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LT_OQ)}; }
inline Mask either(Mask a, Mask b) { return {_mm256_or_pd(a.v, b.v)}; }
inline Mask has_sign(Lanes a) {
  return {_mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_castpd_si256(a.v)))};
}
inline Lanes keep(Lanes a, Mask where) { return {_mm256_and_pd(a.v, where.v)}; }
inline Lanes drop(Lanes a, Mask where) { return {_mm256_andnot_pd(where.v, a.v)}; }
inline Lanes power_of_two(Lanes shifted) {
  const __m256i bits = _mm256_add_epi64(_mm256_castpd_si256(shifted.v), _mm256_set1_epi64x(1023));
  return {_mm256_castsi256_pd(_mm256_slli_epi64(bits, 52))};
}
inline Lanes exponent(Lanes a) {
  const __m256d biased = _mm256_castsi256_pd(_mm256_srli_epi64(_mm256_castpd_si256(a.v), 52));
  return {_mm256_sub_pd(_mm256_or_pd(biased, _mm256_set1_pd(0x1p52)), _mm256_set1_pd(0x1p52 + 1023))};
}

#elif defined(__SSE4_1__)

struct Lanes {
  static constexpr std::size_t width = 2;
  __m128d v;

  static Lanes all(double x) { return {_mm_set1_pd(x)}; }
  static Lanes load(const double* from) { return {_mm_loadu_pd(from)}; }
  void store(double* to) const { _mm_storeu_pd(to, v); }
  void store_apart(double* to, std::size_t step) const { _mm_storel_pd(to, v), _mm_storeh_pd(to + step, v); }
};
struct Mask {
  __m128d v;
  unsigned bits() const { return static_cast<unsigned>(_mm_movemask_pd(v)); }
  std::size_t count() const { return (bits() & 1) + (bits() >> 1); }
};
inline Lanes operator+(Lanes a, Lanes b) { return {_mm_add_pd(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {_mm_sub_pd(a.v, b.v)}; }
inline Lanes operator*(Lanes a, Lanes b) { return {_mm_mul_pd(a.v, b.v)}; }
inline Lanes operator/(Lanes a, Lanes b) { return {_mm_div_pd(a.v, b.v)}; }
inline Lanes fused_exact(Lanes a, Lanes b, Lanes c) { return {_mm_add_pd(_mm_mul_pd(a.v, b.v), c.v)}; }
inline Lanes larger(Lanes a, Lanes b) { return {_mm_max_pd(a.v, b.v)}; }
inline Lanes smaller(Lanes a, Lanes b) { return {_mm_min_pd(a.v, b.v)}; }
inline Lanes square_root(Lanes a) { return {_mm_sqrt_pd(a.v)}; }
inline Lanes absolute(Lanes a) { return {_mm_andnot_pd(_mm_set1_pd(-0.0), a.v)}; }
inline Lanes nearest(Lanes a) { return {_mm_round_pd(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline Mask differ(Lanes a, Lanes b) { return {_mm_cmpneq_pd(a.v, b.v)}; }
inline Mask equal(Lanes a, Lanes b) { return {_mm_cmpeq_pd(a.v, b.v)}; }
inline Mask below(Lanes a, Lanes b) { return {_mm_cmplt_pd(a.v, b.v)}; }
inline Mask either(Mask a, Mask b) { return {_mm_or_pd(a.v, b.v)}; }
inline Mask has_sign(Lanes a) {
  return {_mm_castsi128_pd(_mm_srai_epi32(_mm_shuffle_epi32(_mm_castpd_si128(a.v), 0xf5), 31))};  // of the upper words
}
inline Lanes keep(Lanes a, Mask where) { return {_mm_and_pd(a.v, where.v)}; }
inline Lanes drop(Lanes a, Mask where) { return {_mm_andnot_pd(where.v, a.v)}; }
inline Lanes power_of_two(Lanes shifted) {
  const __m128i bits = _mm_add_epi64(_mm_castpd_si128(shifted.v), _mm_set1_epi64x(1023));
  return {_mm_castsi128_pd(_mm_slli_epi64(bits, 52))};
}
inline Lanes exponent(Lanes a) {
  const __m128d biased = _mm_castsi128_pd(_mm_srli_epi64(_mm_castpd_si128(a.v), 52));
  return {_mm_sub_pd(_mm_or_pd(biased, _mm_set1_pd(0x1p52)), _mm_set1_pd(0x1p52 + 1023))};
}

#else

struct Lanes {
  static constexpr std::size_t width = 2;
  double v[2];

  static Lanes all(double x) { return {{x, x}}; }
  static Lanes load(const double* from) { return {{from[0], from[1]}}; }
  void store(double* to) const { to[0] = v[0], to[1] = v[1]; }
  void store_apart(double* to, std::size_t step) const { to[0] = v[0], to[step] = v[1]; }
};
struct Mask {
  bool v[2];
  unsigned bits() const { return static_cast<unsigned>(v[0]) | static_cast<unsigned>(v[1]) << 1; }
  std::size_t count() const { return static_cast<std::size_t>(v[0]) + static_cast<std::size_t>(v[1]); }
};
inline Lanes operator+(Lanes a, Lanes b) { return {{a.v[0] + b.v[0], a.v[1] + b.v[1]}}; }
inline Lanes operator-(Lanes a, Lanes b) { return {{a.v[0] - b.v[0], a.v[1] - b.v[1]}}; }
inline Lanes operator*(Lanes a, Lanes b) { return {{a.v[0] * b.v[0], a.v[1] * b.v[1]}}; }
inline Lanes operator/(Lanes a, Lanes b) { return {{a.v[0] / b.v[0], a.v[1] / b.v[1]}}; }
inline Lanes fused_exact(Lanes a, Lanes b, Lanes c) { return a * b + c; }
inline Lanes larger(Lanes a, Lanes b) {
  return {{a.v[0] > b.v[0] ? a.v[0] : b.v[0], a.v[1] > b.v[1] ? a.v[1] : b.v[1]}};
}
inline Lanes smaller(Lanes a, Lanes b) {
  return {{a.v[0] < b.v[0] ? a.v[0] : b.v[0], a.v[1] < b.v[1] ? a.v[1] : b.v[1]}};
}
inline Lanes square_root(Lanes a) { return {{__builtin_sqrt(a.v[0]), __builtin_sqrt(a.v[1])}}; }
inline Lanes absolute(Lanes a) { return {{__builtin_fabs(a.v[0]), __builtin_fabs(a.v[1])}}; }
inline Lanes nearest(Lanes a) { return {{__builtin_nearbyint(a.v[0]), __builtin_nearbyint(a.v[1])}}; }
inline Mask differ(Lanes a, Lanes b) { return {{a.v[0] != b.v[0], a.v[1] != b.v[1]}}; }
inline Mask equal(Lanes a, Lanes b) { return {{a.v[0] == b.v[0], a.v[1] == b.v[1]}}; }
inline Mask below(Lanes a, Lanes b) { return {{a.v[0] < b.v[0], a.v[1] < b.v[1]}}; }
inline Mask either(Mask a, Mask b) { return {{a.v[0] || b.v[0], a.v[1] || b.v[1]}}; }
inline Mask has_sign(Lanes a) { return {{__builtin_signbit(a.v[0]) != 0, __builtin_signbit(a.v[1]) != 0}}; }
inline Lanes keep(Lanes a, Mask where) { return {{where.v[0] ? a.v[0] : 0.0, where.v[1] ? a.v[1] : 0.0}}; }
inline Lanes drop(Lanes a, Mask where) { return {{where.v[0] ? 0.0 : a.v[0], where.v[1] ? 0.0 : a.v[1]}}; }
inline Lanes power_of_two(Lanes shifted) {
  Lanes result;
  for (int k = 0; k < 2; ++k) {
    std::uint64_t bits;
    __builtin_memcpy(&bits, &shifted.v[k], 8);
    bits = (bits + 1023) << 52;
    __builtin_memcpy(&result.v[k], &bits, 8);
  }
  return result;
}
inline Lanes exponent(Lanes a) {
  Lanes result;
  for (int k = 0; k < 2; ++k) {
    std::uint64_t bits;
    __builtin_memcpy(&bits, &a.v[k], 8);
    result.v[k] = static_cast<double>(bits >> 52) - 1023;
  }
  return result;
}

#endif
