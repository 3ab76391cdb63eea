// Compiled with -mavx2 -mfma; runs only where the processor has both.
#include "vector_kernels.hpp"

namespace bayesbox {
const Kernels& avx2_kernels() { return kKernels; }
}  // namespace bayesbox
