// The loops of joint_kernels.hpp over `Lanes`. Included behind vector_kernels.hpp, under the same precautions.
#include "core/joint_kernels.hpp"

namespace bayesbox {
namespace {

double sum_of(Lanes lanes) {  // of integers below 2^53 in all: exact
  double each[Lanes::width];
  lanes.store(each);
  double sum = each[0];
  for (std::size_t k = 1; k < Lanes::width; ++k) sum += each[k];
  return sum;
}

// The splitting of `split`, with the pieces kept, as integers. The rest is zero unless |x| < 2^(exponent - 11).
ThreePieces split_three(const double* values, std::size_t count, int exponent, double* pieces, std::size_t stride,
                        double* rest) {
  const int unit1 = exponent - 21, unit2 = exponent - 42, unit3 = exponent - 63;
  const Lanes round1 = Lanes::all(1.5 * power(unit1 + 52)), round2 = Lanes::all(1.5 * power(unit2 + 52));
  const Lanes round3 = Lanes::all(1.5 * power(unit3 + 52)), zero = Lanes::all(0.0);
  const Lanes scale1 = Lanes::all(power(-unit1)), scale2 = Lanes::all(power(-unit2)), scale3 = Lanes::all(power(-unit3));
  Lanes sum1 = zero, sum2 = zero, sum3 = zero;
  Mask any = differ(zero, zero);
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    const Lanes x = Lanes::load(values + i);
    const Lanes h1 = (x + round1) - round1;
    const Lanes below = x - h1;
    const Lanes h2 = (below + round2) - round2;
    const Lanes last = below - h2;
    const Lanes h3 = (last + round3) - round3;
    const Lanes left = last - h3;
    any = either(any, differ(left, zero));
    left.store(rest + i);
    const Lanes p1 = h1 * scale1, p2 = h2 * scale2, p3 = h3 * scale3;
    sum1 = sum1 + p1;
    sum2 = sum2 + p2;
    sum3 = sum3 + p3;
    p1.store(pieces + i);
    p2.store(pieces + stride + i);
    p3.store(pieces + 2 * stride + i);
  }
  return {sum_of(sum1), sum_of(sum2), sum_of(sum3), any.bits() != 0};
}

// A product of pieces is at most 2^42, and at most 1.25 * 2^42 go into one sum a value: 512 values stay below 2^53.
template <std::size_t Columns>
void cross_some(const double* one, const double* others, std::size_t stride, std::size_t count, double* sums) {
  Lanes total[Columns][kProductSums];
  for (auto& column : total)
    for (Lanes& lanes : column) lanes = Lanes::all(0.0);
  for (std::size_t i = 0; i < count; i += Lanes::width) {
    const Lanes a1 = Lanes::load(one + i), a2 = Lanes::load(one + stride + i), a3 = Lanes::load(one + 2 * stride + i);
    for (std::size_t k = 0; k < Columns; ++k) {
      const double* other = others + k * 3 * stride + i;
      const Lanes b1 = Lanes::load(other);
      total[k][0] = fused_exact(a1, b1, total[k][0]);
      total[k][1] = fused_exact(a2, b1, total[k][1]);
      total[k][2] = fused_exact(a3, b1, total[k][2]);
      const Lanes b2 = Lanes::load(other + stride);
      total[k][1] = fused_exact(a1, b2, total[k][1]);
      total[k][2] = fused_exact(a2, b2, total[k][2]);
      total[k][3] = fused_exact(a3, b2, total[k][3]);
      const Lanes b3 = Lanes::load(other + 2 * stride);
      total[k][2] = fused_exact(a1, b3, total[k][2]);
      total[k][3] = fused_exact(a2, b3, total[k][3]);
      total[k][4] = fused_exact(a3, b3, total[k][4]);
    }
  }
  for (std::size_t k = 0; k < Columns; ++k)
    for (std::size_t s = 0; s < kProductSums; ++s) sums[k * kProductSums + s] = sum_of(total[k][s]);
}

void cross(const double* one, const double* others, std::size_t columns, std::size_t stride, std::size_t count,
           double* sums) {
  if (columns == 2)
    cross_some<2>(one, others, stride, count, sums);
  else
    cross_some<1>(one, others, stride, count, sums);
}

// Four rows of the factor against two vectors of rows of the table at a time. Each row's sum is done in one order.
void quadratic(const double* const* values, std::size_t count, std::size_t width, const double* mean,
               const double* rest, const double* factor, double constant, double* scratch, double* sums) {
  for (std::size_t j = 0; j < width; ++j) {
    const Lanes centre = Lanes::all(mean[j]), below = Lanes::all(rest[j]);
    for (std::size_t i = 0; i < count; i += Lanes::width)
      ((Lanes::load(values[j] + i) - centre) - below).store(scratch + j * count + i);
  }
  const Lanes half = Lanes::all(0.5), top = Lanes::all(constant);
  for (std::size_t i = 0; i < count; i += 2 * Lanes::width) {
    Lanes square_a = Lanes::all(0.0), square_b = square_a;
    for (std::size_t row = 0; row < width; row += 4) {
      const double* f = factor + row * width;
      Lanes a[4], b[4];
      for (std::size_t k = 0; k < 4; ++k) a[k] = b[k] = Lanes::all(0.0);
      const std::size_t end = row + 4 < width ? row + 4 : width;
      for (std::size_t j = 0; j < end; ++j) {
        const Lanes x = Lanes::load(scratch + j * count + i), y = Lanes::load(scratch + j * count + i + Lanes::width);
        for (std::size_t k = 0; k < 4; ++k) {
          const Lanes w = Lanes::all(f[k * width + j]);
          a[k] = a[k] + w * x;
          b[k] = b[k] + w * y;
        }
      }
      for (std::size_t k = 0; k < 4; ++k) {
        square_a = square_a + a[k] * a[k];
        square_b = square_b + b[k] * b[k];
      }
    }
    (top - square_a * half).store(sums + i);
    (top - square_b * half).store(sums + i + Lanes::width);
  }
}

constexpr JointKernels kJointKernels{split_three, cross, quadratic};

}  // namespace
}  // namespace bayesbox
