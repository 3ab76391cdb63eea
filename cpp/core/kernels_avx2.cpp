// Compiled with -mavx2 -mfma; runs only where the processor has both.
#include "core/vector_kernels.hpp"
#include "core/vector_cell_kernels.hpp"
#include "core/vector_cell_tree_kernels.hpp"
#include "core/vector_row_kernels.hpp"
#include "core/vector_joint_kernels.hpp"
#include "core/vector_ledger_kernels.hpp"
#include "core/vector_table_kernels.hpp"

namespace bayesbox {

template <>
const Kernels& avx2_set<Kernels>() {
  return kKernels;
}
template <>
const CellKernels& avx2_set<CellKernels>() {
  return kCellKernels;
}
template <>
const CellTreeKernels& avx2_set<CellTreeKernels>() {
  return kCellTreeKernels;
}
template <>
const JointKernels& avx2_set<JointKernels>() {
  return kJointKernels;
}
template <>
const LedgerKernels& avx2_set<LedgerKernels>() {
  return kLedgerKernels;
}
template <>
const RowKernels& avx2_set<RowKernels>() {
  return kRowKernels;
}
template <>
const TableKernels& avx2_set<TableKernels>() {
  return kTableKernels;
}

}  // namespace bayesbox
