#include "vector_kernels.hpp"
#include "vector_joint_kernels.hpp"
#include "vector_table_kernels.hpp"

namespace bayesbox {
const Kernels& baseline_kernels() { return kKernels; }
const JointKernels& baseline_joint_kernels() { return kJointKernels; }
const TableKernels& baseline_table_kernels() { return kTableKernels; }
}  // namespace bayesbox
