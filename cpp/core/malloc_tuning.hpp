// Memory that a process keeps for itself.
#pragma once

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bayesbox {

// From now on memory that was given back is kept for the next piece of work, up to a quarter of a gigabyte, and not handed
// to the system, which would clear it again page by page. For a process that reads one large piece after another.
inline void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
#endif
}

}  // namespace bayesbox
