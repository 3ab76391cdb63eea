#include "vector_kernels.hpp"

namespace bayesbox {
const Kernels& baseline_kernels() { return kKernels; }
}  // namespace bayesbox
