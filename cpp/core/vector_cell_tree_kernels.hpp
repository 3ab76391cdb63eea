// The loops of cell_tree_kernels.hpp over `Lanes`. Included behind vector_cell_kernels.hpp, under the same precautions.
#include "core/cell_tree_kernels.hpp"
#include "core/erfc_terms.hpp"
#include "core/student_terms.hpp"

namespace bayesbox {
namespace {

// As portable::detail::polynomial.
template <std::size_t Size>
Lanes polynomial(const double (&c)[Size], Lanes x) {
  constexpr std::size_t kLast = (Size - 1) / 4 * 4;
  const Lanes x2 = x * x, x4 = x2 * x2;
  Lanes sum[4];
  for (std::size_t way = 0; way < 4; ++way) {
    sum[way] = Lanes::all(kLast + way < Size ? c[kLast + way] : 0.0);
    for (std::size_t k = kLast; k > 0; k -= 4) sum[way] = Lanes::all(c[k - 4 + way]) + x4 * sum[way];
  }
  return (sum[0] + x * sum[1]) + x2 * (sum[2] + x * sum[3]);
}

// portable::erfc of numbers that are not negative.
[[gnu::always_inline]] inline Lanes upper_erfc(Lanes x) {
  const Lanes one = Lanes::all(1.0), two = Lanes::all(2.0), most = Lanes::all(27.3);
  const Mask is_small = below(x, Lanes::all(0.5)), is_zero = below(most, x);
  const Lanes small = one - x * polynomial(portable::kErf, x * x);
  const Lanes shown = smaller(x, most), wide = Lanes::all(134217729.0) * shown, high = wide - (wide - shown);
  const Lanes rest = (shown - high) * (shown + high);
  const Lanes series = one - rest * (one - rest * (Lanes::all(0.5) - rest * (Lanes::all(1.0 / 6) - rest * Lanes::all(1.0 / 24))));
  const Lanes scaled = polynomial(portable::kScaledErfc, (shown - two) / (shown + two)) / (one + two * shown);
  const Lanes large = Exponent::of(Lanes::all(0.0) - high * high).power() * series * scaled;
  return keep(small, is_small) + drop(drop(large, is_zero), is_small);
}

// -x where z is above 0, also of zeros.
Lanes with_side(Lanes x, Lanes z) {
  return x * (Lanes::all(1.0) - keep(Lanes::all(2.0), below(Lanes::all(0.0), z)));
}

// With three degrees of freedom: (artan u - u / (1 + u^2)) / pi with u = sqrt(3) / |z|, which is u^3 times a polynomial of u^2
// where u is small; else 1/2 less the same of 1 / u.
Lanes tail_of_three(Lanes z) {
  const Lanes one = Lanes::all(1.0), w = absolute(z) / Lanes::all(1.7320508075688772);
  const Mask is_outside = below(Lanes::all(1.7), w), is_far = below(Lanes::all(0.4), w);
  const Lanes u = one / larger(w, one), outside = u * (u * u) * polynomial(portable::kStudentThree, u * u);
  const Lanes near = drop(w, is_outside);
  const Lanes t = keep((near - one) / (near + one), is_far) + drop(near, is_far);
  const Lanes angle = t * polynomial(portable::kTangent, t * t) + keep(Lanes::all(0.78539816339744828), is_far);
  const Lanes inside = Lanes::all(0.5) - (angle + near / (one + near * near)) / Lanes::all(3.1415926535897931);
  return keep(outside, is_outside) + drop(inside, is_outside);
}

// 1 + c[0] x + c[1] x^2 + ...
template <std::size_t Vectors>
void power_series(const double* c, std::size_t terms, const Lanes* x, Lanes* sums) {
  const Lanes one = Lanes::all(1.0);
  Lanes sum[Vectors];
  for (std::size_t v = 0; v < Vectors; ++v) sum[v] = Lanes::all(0.0);
  for (std::size_t k = terms; k-- > 0;)
    for (std::size_t v = 0; v < Vectors; ++v) sum[v] = (Lanes::all(c[k]) + sum[v]) * x[v];
  for (std::size_t v = 0; v < Vectors; ++v) sums[v] = one + sum[v];
}

template <bool Terms>
void tails_of_many(const double* z, std::size_t count, const StudentTail& tail, double* out) {
  constexpr std::size_t kVectors = 4;
  const double a = tail.many - 0.5, b = 48 * a * a;
  const auto all = [](double x) { return Lanes::all(x); };
  const Lanes zero = all(0.0), one = all(1.0), half = all(0.5), root_half = all(0.70710678118654757);
  const Lanes far = all(Terms ? 0x1p1000 : kFarTail * tail.df);
  Lanes tails[kVectors], x[kVectors], fronts[kVectors], sums[kVectors];
  for (std::size_t first = 0; first < count; first += kVectors * Lanes::width) {
    const std::size_t left = (count - first) / Lanes::width, vectors = left < kVectors ? left : kVectors;
    for (std::size_t v = 0; v < vectors; ++v) {
      const Lanes given = Lanes::load(z + first + v * Lanes::width), square = given * given;
      const Mask is_far = below(far, square);
      const Lanes t = drop(square, is_far) / all(tail.df), u = one + t;
      const Lanes log = logarithm(u, (t - (u - one)) / u), y = all(a) * log;
      const Lanes inner = (((zero - all(0.4) * y - all(3.3)) * y - all(24)) * y - all(85.5)) / (all(0.8) * y * y + all(100) + all(b)) + y + all(3);
      tails[v] = drop(half * upper_erfc((inner * all(1 / b) + one) * square_root(y) * root_half), is_far);
      if constexpr (Terms) {
        x[v] = one / u;
        fronts[v] = drop(all(tail.front) * Exponent::of(zero - all(tail.df / 2) * log).power() * square_root(t / u), is_far);
      }
    }
    if constexpr (Terms) {
      if (vectors == kVectors)
        power_series<kVectors>(tail.term, tail.terms - 1, x, sums);
      else
        for (std::size_t v = 0; v < vectors; ++v) power_series<1>(tail.term, tail.terms - 1, x + v, sums + v);
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t i = first + v * Lanes::width;
      Lanes found = tails[v];
      if constexpr (Terms) found = found + fronts[v] * sums[v];
      with_side(found, Lanes::load(z + i)).store(out + i);
    }
  }
}

void student_tails(const double* z, std::size_t count, const StudentTail& tail, double* out) {
  if (tail.df == 3) {
    for (std::size_t i = 0; i < count; i += Lanes::width) {
      const Lanes given = Lanes::load(z + i);
      with_side(tail_of_three(given), given).store(out + i);
    }
  } else if (tail.terms == 0) {
    tails_of_many<false>(z, count, tail, out);
  } else {
    tails_of_many<true>(z, count, tail, out);
  }
}

void distances(const double* places, std::size_t count, const StudentLine& line, double* out) {
  const Lanes shift = Lanes::all(line.shift), scale = Lanes::all(line.scale);
  for (std::size_t i = 0; i < count; i += Lanes::width) ((Lanes::load(places + i) - shift) / scale).store(out + i);
}

// A low tail below the middle of the t and a high one above it have the middle between them.
Lanes mass_of(Lanes low, Lanes high) {
  return high - low + drop(keep(Lanes::all(1.0), has_sign(high)), has_sign(low));
}

void half_masses(const double* tails, const CellNodes& nodes, double* masses) {
  for (std::size_t i = 0; i < nodes.count; i += Lanes::width) {
    const Lanes middle = Lanes::load(tails + 2 + i);
    mass_of(pick(tails, nodes.low + i), middle).store(masses + i);
    mass_of(middle, pick(tails, nodes.high + i)).store(masses + nodes.count + i);
  }
}

void narrow_masses(const double* centres, const double* widths, std::size_t count, const StudentLine& line, double log_height,
                   double* masses) {
  const Lanes one = Lanes::all(1.0), scale = Lanes::all(line.scale), df = Lanes::all(line.df), more = Lanes::all(line.df + 1);
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    const Lanes z = (Lanes::load(centres + i) - Lanes::all(line.shift)) / scale, step = Lanes::load(widths + i) / scale, square = z * z;
    const Lanes t = square / df, u = one + t, log = logarithm(u, (t - (u - one)) / u);
    const Lanes height = Exponent::of(Lanes::all(log_height) - Lanes::all((line.df + 1) / 2) * log).power();
    const Lanes curvature = more * (Lanes::all(line.df + 2) * square - df) / ((df + square) * (df + square));
    (height * step * (one + step * step * curvature / Lanes::all(24.0))).store(masses + i);
  }
}

void add_times(const double* values, std::size_t count, double factor, double* sums) {
  const Lanes times = Lanes::all(factor);
  for (std::size_t i = 0; i < count; i += Lanes::width)
    (Lanes::load(sums + i) + Lanes::load(values + i) * times).store(sums + i);
}

// The square of how often all is halved down to a mass of this, and once more.
Lanes square_depth(Lanes mass) {
  const Lanes log = logarithm(larger(mass, Lanes::all(kLeastMass)), Lanes::all(0.0));
  const Lanes depth = Lanes::all(1.0) - log * Lanes::all(1.4426950408889634);
  return depth * depth;
}

void pooled_ratios(const CellNodes& nodes, const double* masses, const double* counts, double* up, double* other) {
  const Lanes one = Lanes::all(1.0);
  for (std::size_t i = 0; i < nodes.count; i += Lanes::width) {
    const std::size_t above = nodes.count + i;
    const Lanes mass = pick(masses, nodes.half + i), worth = Lanes::all(kPooledRows) * square_depth(mass);
    const Lanes part[2] = {Lanes::load(masses + i), Lanes::load(masses + above)};
    const Lanes count[2] = {Lanes::load(counts + i), Lanes::load(counts + above)};
    const Mask clear = below(Lanes::all(kLeastMass), smaller(part[0], part[1]));
    const Lanes share[2] = {part[0] / mass, part[1] / mass}, whole = (count[0] + count[1]) + worth;
    for (std::size_t side = 0; side < 2; ++side) {
      const Lanes corrected = (count[side] + worth * share[side]) / whole;
      const std::size_t at = side == 0 ? i : above;
      (keep(corrected / share[side], clear) + drop(one, clear)).store(up + at);
      (keep((one - corrected) / share[1 - side], clear) + drop(one, clear)).store(other + at);
    }
  }
}

template <bool Counted>
void ratios_of_class(const CellNodes& nodes, const double* masses, const double* counts, const double* up, const double* other,
                     double* ratios) {
  const Lanes one = Lanes::all(1.0), least = Lanes::all(kLeastShare);
  for (std::size_t i = 0; i < nodes.count; i += Lanes::width) {
    const std::size_t above = nodes.count + i;
    const Lanes mass = pick(masses, nodes.half + i);
    const Lanes part[2] = {Lanes::load(masses + i), Lanes::load(masses + above)};
    const Mask clear = below(Lanes::all(kLeastMass), smaller(part[0], part[1]));
    const Lanes share[2] = {part[0] / mass, part[1] / mass};
    Lanes worth = one, whole = one;
    if constexpr (Counted) {
      worth = Lanes::all(kClassRows) * square_depth(mass);
      whole = (Lanes::load(counts + i) + Lanes::load(counts + above)) + worth;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t at = side == 0 ? i : above;
      const Lanes raised = share[side] * Lanes::load(up + at);
      Lanes found = raised / (raised + share[1 - side] * Lanes::load(other + at));
      if constexpr (Counted) found = (Lanes::load(counts + at) + worth * found) / whole;
      (keep(larger(found, least) / share[side], clear) + drop(one, clear)).store(ratios + at);
    }
  }
}

void class_ratios(const CellNodes& nodes, const double* masses, const double* counts, const double* up, const double* other,
                  double* ratios) {
  (counts == nullptr ? ratios_of_class<false> : ratios_of_class<true>)(nodes, masses, counts, up, other, ratios);
}

constexpr CellTreeKernels kCellTreeKernels{distances, student_tails, half_masses, narrow_masses, add_times, pooled_ratios, class_ratios};

}  // namespace
}  // namespace bayesbox
