// Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl; runs only where the processor has them all.
#include "core/vector_kernels.hpp"
#include "core/vector_cell_kernels.hpp"
#include "core/vector_cell_tree_kernels.hpp"
#include "core/vector_row_kernels.hpp"

namespace bayesbox {

template <>
const Kernels& avx512_set<Kernels>() {
  return kKernels;
}
template <>
const CellKernels& avx512_set<CellKernels>() {
  return kCellKernels;
}
template <>
const CellTreeKernels& avx512_set<CellTreeKernels>() {
  return kCellTreeKernels;
}
template <>
const RowKernels& avx512_set<RowKernels>() {
  return kRowKernels;
}

}  // namespace bayesbox
