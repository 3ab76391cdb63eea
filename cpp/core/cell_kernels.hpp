// The inner loops of densities that are a t in each cell of the grid (table/cell_sum.hpp), compiled like those of
// kernels.hpp and under the same precautions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernel_set.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

// (1 + ((x - shift) inverse)^2)^-power
struct CellTail {
  double shift, inverse, power;
};

// What is the same for all classes of a column: the scale, the cells, and the density of a class of no rows, whose power
// is 2.
struct CellScale {
  double base;
  CellTail common;
  const double* common_heights;  // of each run: the log of what the common density is multiplied by
  const std::uint16_t* run_of;   // as in table/cell_density.hpp, each of them a run that there is
  std::int32_t least, most;      // the sizes of cells that it has
  bool is_log;      // whether the t is one of log x
  bool zero_apart;  // then zero is set aside
};

// A value is set aside where its square, in scales of the common density, is not below this.
inline constexpr double kMostCellSquare = 0x1p32;

struct CellKernels {
  // For each value its place on the scale, less the base, and the run of its cell; lift[i] = (1 + s)^2, one over the
  // common density but for its height. Set aside, with a place and a lift of 0: what is not finite or too far away, zero
  // if that is apart, and what has no log. `aside` lists their rows; how many they are is returned. With `commons`, the
  // log of the common density is added to that. `count` is a multiple of kPad.
  std::size_t (*place)(const double* values, std::size_t count, const CellScale& scale, double* place, double* lift,
                       std::uint32_t* run, std::uint16_t* aside, double* commons);
  // products[i] *= 1 + ratios[run[i]] * lift[i] * the tail of the class at place[i]
  void (*multiply)(const double* place, const double* lift, const std::uint32_t* run, std::size_t count,
                   const CellTail& tail, const double* ratios, double* products);
  // sums[i] += weight * (log products[i] + commons[i]), without the last where it is null
  void (*add_logs)(const double* products, const double* commons, std::size_t count, double weight, double* sums);
};

template <>
const CellKernels& baseline_set<CellKernels>();
template <>
const CellKernels& avx2_set<CellKernels>();
template <>
const CellKernels& avx512_set<CellKernels>();
template <>
inline constexpr bool kHasAvx512Set<CellKernels> = true;

inline const CellKernels& cell_kernels() { return kernel_set<CellKernels>(); }

}  // namespace bayesbox
