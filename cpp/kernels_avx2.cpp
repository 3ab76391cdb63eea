// Compiled with -mavx2 -mfma; runs only where the processor has both.
#include "vector_kernels.hpp"
#include "vector_joint_kernels.hpp"
#include "vector_table_kernels.hpp"

namespace bayesbox {
const Kernels& avx2_kernels() { return kKernels; }
const JointKernels& avx2_joint_kernels() { return kJointKernels; }
const TableKernels& avx2_table_kernels() { return kTableKernels; }
}  // namespace bayesbox
