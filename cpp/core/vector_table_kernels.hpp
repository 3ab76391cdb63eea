// The loops of table_kernels.hpp. Included behind vector_kernels.hpp, under the same precautions.
#include "core/table_kernels.hpp"

namespace bayesbox {
namespace {

void gather_eight_bytes(const char* base, std::int64_t stride, std::size_t count, std::uint8_t* const* out) {
  std::size_t i = 0;
#if defined(__SSE4_1__)
  for (; i + 8 <= count; i += 8) {
    const auto row = [&](std::size_t k) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(base + static_cast<std::int64_t>(i + k) * stride));
    };
    const __m128i pairs[4] = {_mm_unpacklo_epi8(row(0), row(1)), _mm_unpacklo_epi8(row(2), row(3)),
                              _mm_unpacklo_epi8(row(4), row(5)), _mm_unpacklo_epi8(row(6), row(7))};
    const __m128i low_first = _mm_unpacklo_epi16(pairs[0], pairs[1]), high_first = _mm_unpackhi_epi16(pairs[0], pairs[1]);
    const __m128i low_last = _mm_unpacklo_epi16(pairs[2], pairs[3]), high_last = _mm_unpackhi_epi16(pairs[2], pairs[3]);
    const __m128i columns[4] = {_mm_unpacklo_epi32(low_first, low_last), _mm_unpackhi_epi32(low_first, low_last),
                                _mm_unpacklo_epi32(high_first, high_last), _mm_unpackhi_epi32(high_first, high_last)};
    for (std::size_t k = 0; k < 4; ++k) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out[2 * k] + i), columns[k]);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out[2 * k + 1] + i), _mm_unpackhi_epi64(columns[k], columns[k]));
    }
  }
#endif
  for (; i < count; ++i)
    for (std::size_t k = 0; k < 8; ++k)
      out[k][i] = static_cast<std::uint8_t>(base[static_cast<std::int64_t>(i) * stride + static_cast<std::int64_t>(k)]);
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &value, 8);
  return bits;
}

// A double that is a whole number from 0 to 255 lies in the lower bits once 1.5 * 2^52 is added; any other leaves a bit
// above those, or does not come back when it is taken away again.
template <bool Doubles>
bool gather_four_narrow(const char* base, std::int64_t stride, std::size_t count, std::uint8_t* const* out) {
  std::uint64_t above = 0;
  std::size_t i = 0;
#if defined(__AVX2__)
  const __m256d shift = _mm256_set1_pd(kShift);
  const __m256i shift_bits = _mm256_castpd_si256(shift);
  __m256i high = _mm256_setzero_si256();
  __m256d changed = _mm256_setzero_pd();
  for (; i + 8 <= count; i += 8) {
    const char* row = base + static_cast<std::int64_t>(i) * stride;
    __m256i packed = _mm256_setzero_si256();  // in the eight bytes of a lane, a column's eight rows
    for (int k = 0; k < 8; ++k, row += stride) {
      __m256i values;
      if constexpr (Doubles) {
        const __m256d given = _mm256_loadu_pd(reinterpret_cast<const double*>(row)), moved = _mm256_add_pd(given, shift);
        changed = _mm256_or_pd(changed, _mm256_cmp_pd(_mm256_sub_pd(moved, shift), given, _CMP_NEQ_UQ));
        values = _mm256_xor_si256(_mm256_castpd_si256(moved), shift_bits);
      } else {
        values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
      }
      high = _mm256_or_si256(high, values);
      packed = _mm256_or_si256(packed, _mm256_slli_epi64(values, 8 * k));
    }
    std::uint64_t columns[4];
    __builtin_memcpy(columns, &packed, sizeof columns);
    for (std::size_t k = 0; k < 4; ++k) __builtin_memcpy(out[k] + i, &columns[k], 8);
  }
  std::uint64_t lanes[4];
  __builtin_memcpy(lanes, &high, sizeof lanes);
  above = lanes[0] | lanes[1] | lanes[2] | lanes[3] | (_mm256_movemask_pd(changed) != 0 ? 256 : 0);
#endif
  for (; i < count; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      const char* at = base + static_cast<std::int64_t>(i) * stride + 8 * static_cast<std::int64_t>(k);
      std::uint64_t value;
      if constexpr (Doubles) {
        double given;
        __builtin_memcpy(&given, at, 8);
        const double moved = given + kShift;
        value = (bits_of(moved) ^ bits_of(kShift)) | (moved - kShift != given ? 256 : 0);
      } else {
        __builtin_memcpy(&value, at, 8);
      }
      above |= value;
      out[k][i] = static_cast<std::uint8_t>(value);
    }
  return above < 256;
}

bool gather_four_narrow(const char* base, std::int64_t stride, std::size_t count, bool doubles, std::uint8_t* const* out) {
  return (doubles ? gather_four_narrow<true> : gather_four_narrow<false>)(base, stride, count, out);
}

// As the window lies within the range of the type, a value below it wraps to beyond its reach.
template <class Value, class Key>
bool make_keys(const void* from, std::size_t count, Window window, const Key* offset, const Key* keep, Key nowhere,
               Key* keys) {
  const Value* values = static_cast<const Value*>(from);
  const auto base = static_cast<Value>(window.base), reach = static_cast<Value>(window.reach);
  Key outside = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto level = static_cast<Value>(values[i] - base);
    const Key inside = level <= reach ? static_cast<Key>(~Key{0}) : Key{0};
    const Key good = inside & keep[i];
    const auto key = static_cast<Key>(offset[i] + static_cast<Key>(level));
    keys[i] = static_cast<Key>((key & good) | (nowhere & static_cast<Key>(~good)));
    outside |= static_cast<Key>(keep[i] & static_cast<Key>(~inside));
  }
  return outside != 0;
}

#if defined(__AVX2__)
typedef std::uint8_t Bytes __attribute__((vector_size(32)));
constexpr std::size_t kMostByteCells = 40;
#else
typedef std::uint8_t Bytes __attribute__((vector_size(16)));
constexpr std::size_t kMostByteCells = 20;
#endif

std::uint32_t sum_of(Bytes bytes) {
#if defined(__SSE4_1__)
  // The sums of eight bytes each, against zero
  std::uint64_t eights[sizeof(Bytes) / 8];
#if defined(__AVX2__)
  const __m256i sums = _mm256_sad_epu8(reinterpret_cast<__m256i>(bytes), _mm256_setzero_si256());
#else
  const __m128i sums = _mm_sad_epu8(reinterpret_cast<__m128i>(bytes), _mm_setzero_si128());
#endif
  __builtin_memcpy(eights, &sums, sizeof eights);
  std::uint64_t sum = 0;
  for (const std::uint64_t eight : eights) sum += eight;
  return static_cast<std::uint32_t>(sum);
#else
  std::uint32_t sum = 0;
  for (std::size_t lane = 0; lane < sizeof(Bytes); ++lane) sum += bytes[lane];
  return sum;
#endif
}

// Some keys at a time, so that each vector of bytes is loaded once for several comparisons. A byte counts up to 255.
template <unsigned Keys>
void count_some(const std::uint8_t* keys, std::size_t vectors, unsigned first, std::uint32_t* counts) {
  for (std::size_t begin = 0; begin < vectors; begin += 255) {
    const std::size_t end = begin + 255 < vectors ? begin + 255 : vectors;
    Bytes tally[Keys] = {}, key[Keys];
    for (unsigned k = 0; k < Keys; ++k) key[k] = Bytes{} + static_cast<std::uint8_t>(first + k);
    for (std::size_t i = begin; i < end; ++i) {
      Bytes loaded;
      __builtin_memcpy(&loaded, keys + i * sizeof(Bytes), sizeof(Bytes));
      for (unsigned k = 0; k < Keys; ++k) tally[k] -= reinterpret_cast<Bytes>(loaded == key[k]);
    }
    for (unsigned k = 0; k < Keys; ++k) counts[first + k] += sum_of(tally[k]);
  }
}

void count_bytes(const std::uint8_t* keys, std::size_t count, unsigned cells, std::uint32_t* counts) {
  constexpr unsigned kTogether = 6;  // as many as the registers hold
  const std::size_t vectors = count / sizeof(Bytes);
  unsigned first = 0;
  for (; first + kTogether <= cells; first += kTogether) count_some<kTogether>(keys, vectors, first, counts);
  switch (cells - first) {
    case 5: count_some<5>(keys, vectors, first, counts); break;
    case 4: count_some<4>(keys, vectors, first, counts); break;
    case 3: count_some<3>(keys, vectors, first, counts); break;
    case 2: count_some<2>(keys, vectors, first, counts); break;
    case 1: count_some<1>(keys, vectors, first, counts); break;
    default: break;
  }
  for (std::size_t i = vectors * sizeof(Bytes); i < count; ++i)
    if (keys[i] < cells) ++counts[keys[i]];
}

template <class Value>
void levels_of(const void* from, std::size_t count, Window window, std::uint32_t skipped, std::uint32_t outside,
               std::uint32_t* levels) {
  const Value* values = static_cast<const Value*>(from);
  const auto base = static_cast<Value>(window.base), reach = static_cast<Value>(window.reach);
  constexpr auto most = static_cast<Value>(~Value{0});
  if (skipped == 0 && reach < most && outside == window.reach + 1) {  // as a rule it is the level behind the last
    const auto end = static_cast<Value>(reach + 1);
    for (std::size_t i = 0; i < count; ++i) {
      const auto offset = static_cast<Value>(values[i] - base);
      levels[i] = static_cast<std::uint32_t>(offset < end ? offset : end);
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto offset = static_cast<Value>(values[i] - base);
    levels[i] = offset <= reach ? static_cast<std::uint32_t>(offset) + skipped : outside;
  }
}

void levels_of_doubles(const double* values, std::size_t count, double base, double end, std::uint32_t outside,
                       std::uint32_t* levels) {
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i], offset = value - base;
    const bool inside = (offset >= 0) & (offset < end) & (__builtin_nearbyint(value) == value);
    const auto level = static_cast<std::uint32_t>(static_cast<std::int32_t>(inside ? offset : 0.0));
    levels[i] = inside ? level : outside + (value == value ? 0 : 1);
  }
}

void combine_levels(const std::uint32_t* first, const std::uint32_t* second, std::uint32_t rows, std::size_t count,
                    std::uint32_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = first[i] + rows * second[i];
}

#if defined(__AVX2__)
// Four rows of four classes become four classes of four rows.
void transpose(Lanes (&rows)[4]) {
  const __m256d low01 = _mm256_unpacklo_pd(rows[0].v, rows[1].v), high01 = _mm256_unpackhi_pd(rows[0].v, rows[1].v);
  const __m256d low23 = _mm256_unpacklo_pd(rows[2].v, rows[3].v), high23 = _mm256_unpackhi_pd(rows[2].v, rows[3].v);
  rows[0].v = _mm256_permute2f128_pd(low01, low23, 0x20);
  rows[1].v = _mm256_permute2f128_pd(high01, high23, 0x20);
  rows[2].v = _mm256_permute2f128_pd(low01, low23, 0x31);
  rows[3].v = _mm256_permute2f128_pd(high01, high23, 0x31);
}
#endif

// Four classes of the rows of one to four tables for row i of the block.
struct FourClasses {
#if defined(__AVX2__)
  Lanes all;
  static FourClasses load(const double* from) { return {Lanes::load(from)}; }
  FourClasses operator+(const FourClasses& other) const { return {all + other.all}; }
#else
  Lanes low, high;
  static FourClasses load(const double* from) { return {Lanes::load(from), Lanes::load(from + 2)}; }
  FourClasses operator+(const FourClasses& other) const { return {low + other.low, high + other.high}; }
#endif
};

template <Shape shape>
void add_rows(const TableSumOfFour& four, std::size_t width, std::size_t first, std::size_t i, FourClasses (&rows)[4]) {
  for (std::size_t k = 0; k < 4; ++k) {
    const auto row = [&](std::size_t t) {
      return FourClasses::load(four.table[t] + four.levels[t][i + k] * width + first);
    };
    if constexpr (shape == Shape::one) rows[k] = rows[k] + row(0);
    if constexpr (shape == Shape::two) rows[k] = rows[k] + (row(0) + row(1));
    if constexpr (shape == Shape::left_pair) rows[k] = rows[k] + ((row(0) + row(1)) + row(2));
    if constexpr (shape == Shape::right_pair) rows[k] = rows[k] + (row(0) + (row(1) + row(2)));
    if constexpr (shape == Shape::four) rows[k] = rows[k] + ((row(0) + row(1)) + (row(2) + row(3)));
  }
}

void add_tables(const TableSumOfFour* fours, std::size_t size, std::size_t count, std::size_t class_count, double* sums,
                std::size_t row_stride) {
  const std::size_t width = (class_count + 3) / 4 * 4;
  for (std::size_t i = 0; i < count; i += 4)
    for (std::size_t first = 0; first < width; first += 4) {
      const std::size_t classes = class_count - first < 4 ? class_count - first : 4;
      FourClasses rows[4] = {};
      for (std::size_t j = 0; j < size; ++j) switch (fours[j].shape) {
          case Shape::one: add_rows<Shape::one>(fours[j], width, first, i, rows); break;
          case Shape::two: add_rows<Shape::two>(fours[j], width, first, i, rows); break;
          case Shape::left_pair: add_rows<Shape::left_pair>(fours[j], width, first, i, rows); break;
          case Shape::right_pair: add_rows<Shape::right_pair>(fours[j], width, first, i, rows); break;
          case Shape::four: add_rows<Shape::four>(fours[j], width, first, i, rows); break;
        }
#if defined(__AVX2__)
      Lanes lanes[4] = {rows[0].all, rows[1].all, rows[2].all, rows[3].all};
      transpose(lanes);
      for (std::size_t c = 0; c < classes; ++c) {
        double* to = sums + (first + c) * row_stride + i;
        (Lanes::load(to) + lanes[c]).store(to);
      }
#else
      for (std::size_t k = 0; k < 4; ++k) {
        double four[4];
        rows[k].low.store(four);
        rows[k].high.store(four + 2);
        for (std::size_t c = 0; c < classes; ++c) sums[(first + c) * row_stride + i + k] += four[c];
      }
#endif
    }
}

void range(const std::int64_t* values, std::size_t count, std::int64_t& least, std::int64_t& most) {
  std::int64_t low = values[0], high = values[0];
  for (std::size_t i = 1; i < count; ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  least = low;
  most = high;
}

// Adding 1.5 * 2^52 leaves the nearest integer in the lower bits.
WholeNumbers whole_numbers(const double* values, std::size_t count, std::int64_t* out) {
  const auto shift = static_cast<std::int64_t>(bits_of(kShift));
  std::int64_t other = 0, nan = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i] == values[i] ? values[i] : 0.0, moved = value + kShift;
    out[i] = static_cast<std::int64_t>(bits_of(moved)) - shift;
    other |= ((moved - kShift != value) | (__builtin_fabs(value) > 0x1p51)) ? -1 : 0;
    nan |= values[i] == values[i] ? 0 : -1;
  }
  return {other == 0, nan != 0};
}

constexpr TableKernels kTableKernels{
    gather_eight_bytes,
    gather_four_narrow,
    {make_keys<std::uint8_t, std::uint8_t>, make_keys<std::uint16_t, std::uint8_t>,
     make_keys<std::uint32_t, std::uint8_t>, make_keys<std::uint64_t, std::uint8_t>},
    {make_keys<std::uint8_t, std::uint16_t>, make_keys<std::uint16_t, std::uint16_t>,
     make_keys<std::uint32_t, std::uint16_t>, make_keys<std::uint64_t, std::uint16_t>},
    count_bytes,
    kMostByteCells,
    {levels_of<std::uint8_t>, levels_of<std::uint16_t>, levels_of<std::uint32_t>, levels_of<std::uint64_t>},
    levels_of_doubles,
    combine_levels,
    add_tables,
    range,
    whole_numbers};

}  // namespace
}  // namespace bayesbox
