// The Python face of the core: checks arguments, releases the GIL, hands arrays back. No arithmetic here.
#include <nanobind/nanobind.h>

#include "augmented_binding.hpp"
#include "chain_module.hpp"
#include "count_binding.hpp"
#include "cpu.hpp"
#include "cuts_binding.hpp"
#include "exact_binding.hpp"
#include "forest_binding.hpp"
#include "joint_binding.hpp"
#include "kernel_density_binding.hpp"
#include "kept_memory.hpp"
#include "mail_binding.hpp"
#include "network_module.hpp"
#include "normal_cell_binding.hpp"
#include "score_binding.hpp"
#include "text_binding.hpp"

NB_MODULE(_core, m) {
  using namespace bayesbox;
  m.doc() = "The compiled core: exact sums, counting, moments, scores.";
  nb::set_leak_warnings(false);  // what a cache still holds when the interpreter ends is freed with the process

  bind_exact(m);
  bind_count(m);
  bind_score(m);
  bind_joint(m);
  bind_networks(m);
  bind_text(m);
  bind_mail(m);
  bind_chains(m);
  bind_augmented(m);
  bind_forest(m);
  bind_cuts(m);
  bind_kernel_density(m);
  bind_normal_cells(m);
  m.def("has_avx2", &has_avx2);
  m.def("keep_freed_memory", &keep_freed_memory);
  m.def("use_avx2", &use_avx2, "enabled"_a);
}
