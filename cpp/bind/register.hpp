// The parts of the Python module, each registered by the unit of its name.
#pragma once

#include <nanobind/nanobind.h>

namespace bayesbox {

void register_interrupt(nanobind::module_& m);
void register_exact(nanobind::module_& m);
void register_moments(nanobind::module_& m);
void register_grids(nanobind::module_& m);
void register_count(nanobind::module_& m);
void register_ledger(nanobind::module_& m);
void register_levels(nanobind::module_& m);
void register_live_rows(nanobind::module_& m);
void register_pool(nanobind::module_& m);
void register_score(nanobind::module_& m);
void register_scorer(nanobind::module_& m);
void register_numbers(nanobind::module_& m);
void register_text(nanobind::module_& m);
void register_text_columns(nanobind::module_& m);
void register_mail(nanobind::module_& m);
void register_network(nanobind::module_& m);
void register_network_files(nanobind::module_& m);
void register_approximate(nanobind::module_& m);
void register_learning(nanobind::module_& m);
void register_pairs(nanobind::module_& m);
void register_structure(nanobind::module_& m);
void register_chain(nanobind::module_& m);
void register_tree(nanobind::module_& m);

}  // namespace bayesbox
