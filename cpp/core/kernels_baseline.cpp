#include "core/vector_kernels.hpp"
#include "core/vector_cell_kernels.hpp"
#include "core/vector_cell_tree_kernels.hpp"
#include "core/vector_row_kernels.hpp"
#include "core/vector_joint_kernels.hpp"
#include "core/vector_ledger_kernels.hpp"
#include "core/vector_table_kernels.hpp"

namespace bayesbox {

template <>
const Kernels& baseline_set<Kernels>() {
  return kKernels;
}
template <>
const CellKernels& baseline_set<CellKernels>() {
  return kCellKernels;
}
template <>
const CellTreeKernels& baseline_set<CellTreeKernels>() {
  return kCellTreeKernels;
}
template <>
const JointKernels& baseline_set<JointKernels>() {
  return kJointKernels;
}
template <>
const LedgerKernels& baseline_set<LedgerKernels>() {
  return kLedgerKernels;
}
template <>
const RowKernels& baseline_set<RowKernels>() {
  return kRowKernels;
}
template <>
const TableKernels& baseline_set<TableKernels>() {
  return kTableKernels;
}

}  // namespace bayesbox
