// From sums of logarithms to posteriors and their logarithms. Included only by vector_kernels.hpp, inside an unnamed
// namespace, behind the lanes.
constexpr std::size_t kPosteriorRows = 64;  // worked on together

constexpr std::size_t whole_vectors(std::size_t count) { return (count + Lanes::width - 1) / Lanes::width * Lanes::width; }

constexpr double kLog2Head = 0.6931471803691238, kLog2Tail = 1.9082149292705877e-10;  // ln 2, the first with few digits

// e^x for x <= 700: x = n ln 2 + r, |r| <= ln 2 / 2, with ln 2 in two parts. -inf gives 0, NaN gives NaN.
struct Exponent {
  Lanes shifted;  // n + kShift
  Lanes r;

  static Exponent of(Lanes x) {
    const Lanes shift = Lanes::all(kShift);
    x = larger(Lanes::all(-750.0), x);
    const Lanes shifted = x * Lanes::all(1.4426950408889634) + shift, n = shifted - shift;
    return {shifted, (x - n * Lanes::all(kLog2Head)) - n * Lanes::all(kLog2Tail)};
  }

  // e^r = 1 + r + r^2 series, the polynomial of least error (2e-17 with its coefficients rounded); for subnormal results
  // 2^n in two factors, so that they round once.
  Lanes power() const {
    constexpr double c[] = {0.5000000000000011,     0.16666666666666413,    0.041666666666530267,  0.008333333333494335,
                            0.0013888888943597829,  0.00019841269506775094, 2.480149313603979e-05, 2.7557586270941857e-06,
                            2.7630233974266633e-07, 2.5000070730291996e-08};
    const auto pair = [&](int k) { return Lanes::all(c[k]) + r * Lanes::all(c[k + 1]); };
    const Lanes r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const Lanes low = pair(0) + r2 * pair(2), middle = pair(4) + r2 * pair(6);
    const Lanes series = low + (r4 * middle + r8 * pair(8));
    const Lanes value = Lanes::all(1.0) + (r + r2 * series);
    const Lanes shift = Lanes::all(kShift), n = shifted - shift;
    if (__builtin_expect(below(n, Lanes::all(-1021.0)).bits() == 0, 1)) return value * power_of_two(shifted);
    const Lanes half = (n * Lanes::all(0.5) + shift) - shift;
    return value * power_of_two(half + shift) * power_of_two((n - half) + shift);
  }
};

// In two rounds of short steps: of one round of long ones, each operation would wait for the one before.
void exponentials(double* values, const double* top, std::size_t count) {
  constexpr std::size_t kVectors = 16;
  Exponent exponents[kVectors];
  for (std::size_t first = 0; first < count; first += kVectors * Lanes::width) {
    double* at = values + first;
    const std::size_t left = (count - first + Lanes::width - 1) / Lanes::width, vectors = left < kVectors ? left : kVectors;
    for (std::size_t v = 0; v < vectors; ++v)
      exponents[v] = Exponent::of(Lanes::load(at + v * Lanes::width) - Lanes::load(top + first + v * Lanes::width));
    for (std::size_t v = 0; v < vectors; ++v) exponents[v].power().store(at + v * Lanes::width);
  }
}

// log u + rest for u > 0: u = 2^n m with m between the roots of 1/2 and 2; log m = 2 artanh s = 2 s + s^3 series, with
// s = f / (2 + f) and f = m - 1 (the polynomial of least error, 4e-18), which is f - f^2 / 2 + s (f^2 / 2 + s^2 series).
[[gnu::always_inline]] inline Lanes logarithm(Lanes u, Lanes rest) {
  constexpr double c[] = {0.6666666666666734,  0.39999999999414676, 0.28571428742388505, 0.22222198573082885,
                          0.1818356433186436,  0.15314050394799053, 0.14795951368566837};
  const Lanes n = exponent(u * Lanes::all(1.4142135623730951)), m = u * power_of_two(Lanes::all(kShift) - n);
  const Lanes f = m - Lanes::all(1.0), s = f / (Lanes::all(2.0) + f), s2 = s * s, s4 = s2 * s2;
  const auto pair = [&](int k) { return Lanes::all(c[k]) + s2 * Lanes::all(c[k + 1]); };
  const Lanes series = pair(0) + s4 * (pair(2) + s4 * (pair(4) + s4 * Lanes::all(c[6])));
  const Lanes half_square = f * f * Lanes::all(0.5);
  const Lanes small = s * (half_square + s2 * series) + (n * Lanes::all(kLog2Tail) + rest);
  return n * Lanes::all(kLog2Head) - ((half_square - small) - f);
}

void logarithms(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; i += Lanes::width)
    logarithm(Lanes::load(values + i), Lanes::all(0.0)).store(values + i);
}

// log(1 + t) = log u + (1 + t - u) / u for u = 1 + t as it is rounded
void logarithms_beside_one(double* values, std::size_t count) {
  const Lanes one = Lanes::all(1.0);
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    const Lanes t = Lanes::load(values + i), u = one + t;
    logarithm(u, (t - (u - one)) / u).store(values + i);
  }
}

void best(const double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* top,
          double* best) {
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    Lanes largest = Lanes::all(-__builtin_inf()), first = Lanes::all(-1.0);
    for (std::size_t c = 0; c < class_count; ++c) {
      const Lanes sum = Lanes::load(sums + c * row_stride + i);
      const Mask better = below(largest, sum);
      largest = larger(sum, largest);
      first = keep(Lanes::all(static_cast<double>(c)), better) + drop(first, better);
    }
    largest.store(top + i);
    first.store(best + i);
  }
}

// One class of the first `rows` rows of a vector, to rows x classes.
void write_class(Lanes values, std::size_t rows, std::size_t c, std::size_t class_count, double* to) {
  if (rows == Lanes::width) {
    values.store_apart(to + c, class_count);
    return;
  }
  double each[Lanes::width];
  values.store(each);
  for (std::size_t k = 0; k < rows; ++k) to[k * class_count + c] = each[k];
}

bool posteriors_of_some(double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* out) {
  double top[kPosteriorRows];
  const std::size_t padded = whole_vectors(count);
  const auto sum_at = [&](std::size_t c, std::size_t row) { return Lanes::load(sums + c * row_stride + row); };
  for (std::size_t row = 0; row < padded; row += Lanes::width) {
    Lanes largest = sum_at(0, row);
    for (std::size_t c = 1; c < class_count; ++c) largest = larger(sum_at(c, row), largest);
    largest.store(top + row);
  }
  for (std::size_t c = 0; c < class_count; ++c) exponentials(sums + c * row_stride, top, padded);
  bool impossible = false;
  for (std::size_t row = 0; row < padded; row += Lanes::width) {
    Lanes total = sum_at(0, row);
    for (std::size_t c = 1; c < class_count; ++c) total = total + sum_at(c, row);
    const std::size_t rows = count - row < Lanes::width ? count - row : Lanes::width;
    for (std::size_t c = 0; c < class_count; ++c)
      write_class(sum_at(c, row) / total, rows, c, class_count, out + row * class_count);
    const unsigned present = (1u << rows) - 1;  // those behind the last are none
    impossible = impossible || (differ(total, total).bits() & present) != 0;
  }
  return impossible;
}

// log(1 + the others beside the best) keeps the digits of a posterior close to 1.
void log_totals(const double* sums, std::size_t class_count, std::size_t row_stride, std::size_t padded, double* top,
                double* totals) {
  double first[kPosteriorRows], shares[kPosteriorRows];
  best(sums, class_count, row_stride, padded, top, first);
  for (std::size_t row = 0; row < padded; ++row) totals[row] = 0;
  for (std::size_t c = 0; c < class_count; ++c) {
    const Lanes label = Lanes::all(static_cast<double>(c));
    for (std::size_t row = 0; row < padded; ++row) shares[row] = sums[c * row_stride + row];
    exponentials(shares, top, padded);
    for (std::size_t row = 0; row < padded; row += Lanes::width)
      (Lanes::load(totals + row) + drop(Lanes::load(shares + row), equal(Lanes::load(first + row), label))).store(totals + row);
  }
  logarithms_beside_one(totals, padded);
}

bool log_posteriors_of_some(double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* out) {
  double top[kPosteriorRows], totals[kPosteriorRows];
  const std::size_t padded = whole_vectors(count);
  log_totals(sums, class_count, row_stride, padded, top, totals);
  bool impossible = false;
  for (std::size_t row = 0; row < padded; row += Lanes::width) {
    const Lanes largest = Lanes::load(top + row), total = Lanes::load(totals + row) + (largest - largest);  // NaN if infinite
    const std::size_t rows = count - row < Lanes::width ? count - row : Lanes::width;
    for (std::size_t c = 0; c < class_count; ++c)
      write_class((Lanes::load(sums + c * row_stride + row) - largest) - total, rows, c, class_count, out + row * class_count);
    const unsigned present = (1u << rows) - 1;  // those behind the last are none
    impossible = impossible || (differ(total, total).bits() & present) != 0;
  }
  return impossible;
}

// Some rows at a time, so that what is between stays near.
template <bool (*OfSome)(double*, std::size_t, std::size_t, std::size_t, double*)>
bool in_parts(double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* out) {
  bool impossible = false;
  for (std::size_t first = 0; first < count; first += kPosteriorRows) {
    const std::size_t some = count - first < kPosteriorRows ? count - first : kPosteriorRows;
    impossible = OfSome(sums + first, class_count, row_stride, some, out + first * class_count) || impossible;
  }
  return impossible;
}

void log_sums(const double* sums, std::size_t class_count, std::size_t row_stride, std::size_t count, double* out) {
  double top[kPosteriorRows], totals[kPosteriorRows];
  for (std::size_t first = 0; first < count; first += kPosteriorRows) {
    const std::size_t some = count - first < kPosteriorRows ? count - first : kPosteriorRows;
    log_totals(sums + first, class_count, row_stride, whole_vectors(some), top, totals);
    for (std::size_t row = 0; row < some; ++row)
      out[first + row] = __builtin_isinf(top[row]) ? top[row] : top[row] + totals[row];
  }
}
