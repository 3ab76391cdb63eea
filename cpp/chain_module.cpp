// The Python face of chains, compiled by itself: each number of states has code of its own.
#include "chain_module.hpp"

#include "chain_binding.hpp"

namespace bayesbox {

void bind_chains(nanobind::module_& m) { bind_chain(m); }

}  // namespace bayesbox
