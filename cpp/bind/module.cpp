// The Python module of the core: checks arguments, releases the GIL, returns arrays. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <iterator>
#include <string_view>

#include "bind/register.hpp"
#include "core/cpu.hpp"
#include "core/malloc_tuning.hpp"

namespace bayesbox {
namespace {

constexpr const char* kInstructions[] = {"baseline", "avx2", "avx512"};

nanobind::list instruction_sets() {
  nanobind::list names;
  for (std::size_t k = 0; k <= static_cast<std::size_t>(best_instructions()); ++k) names.append(kInstructions[k]);
  return names;
}

const char* use_named_instructions(std::string_view name) {
  for (std::size_t k = 0; k < std::size(kInstructions); ++k)
    if (name == kInstructions[k]) return kInstructions[static_cast<std::size_t>(use_instructions(static_cast<Instructions>(k)))];
  throw nanobind::value_error("name: one of baseline, avx2, avx512");
}

}  // namespace
}  // namespace bayesbox

NB_MODULE(_core, m) {
  using namespace bayesbox;
  using namespace nanobind::literals;
  m.doc() = "The compiled core: exact sums, counting, moments, scores.";
  nanobind::set_leak_warnings(false);  // objects still cached at exit are freed with the process

  register_interrupt(m);
  register_exact(m);
  register_moments(m);
  register_grids(m);
  register_count(m);
  register_ledger(m);
  register_levels(m);
  register_live_rows(m);
  register_score(m);
  register_scorer(m);
  register_pool(m);
  register_numbers(m);
  register_text(m);
  register_text_columns(m);
  register_mail(m);
  register_network(m);
  register_network_files(m);
  register_approximate(m);
  register_learning(m);
  register_pairs(m);
  register_structure(m);
  register_chain(m);
  register_tree(m);
  m.def("has_avx2", &has_avx2);
  m.def("instruction_sets", &instruction_sets);
  m.def("keep_freed_memory", &keep_freed_memory);
  m.def("use_avx2", &use_avx2, "enabled"_a);
  m.def("use_instructions", &use_named_instructions, "name"_a);
}
