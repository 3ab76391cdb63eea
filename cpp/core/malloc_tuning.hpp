// Tuning of malloc.
#pragma once

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bayesbox {

// From now on up to a quarter of a gigabyte of freed memory is kept for reuse and not returned to the system, which
// would clear it again page by page. For a process that reads one large block after another.
inline void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
#endif
}

}  // namespace bayesbox
