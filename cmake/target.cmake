# What the code is compiled for, asked of the compiler itself: the processor of the machine that compiles says nothing
# about a cross build, nor about a build for two processors at once (universal2), which has the paths of neither.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "bayesbox needs a 64-bit system: its exact sums are made of 128-bit integers, which this compiler does "
    "not have for the ${CMAKE_SIZEOF_VOID_P}-byte pointers of its target. Use a 64-bit Python and compiler")
endif()

check_cxx_source_compiles("
#if !defined(__x86_64__) && !defined(_M_X64)
#error not x86-64
#endif
int main() {}" BAYESBOX_TARGETS_X86_64)

# Exactness: no contraction of a*b+c, no fast-math. Vector paths are chosen at run time.
add_compile_options(-ffp-contract=off -Wall -Wextra)
if(BAYESBOX_TARGETS_X86_64)
  check_cxx_compiler_flag(-march=x86-64-v2 BAYESBOX_LEVEL_WITH_DASHES)
  add_compile_options(-march=$<IF:$<BOOL:${BAYESBOX_LEVEL_WITH_DASHES}>,x86-64-v2,x86_64_v2>)  # the second is zig's name
endif()
