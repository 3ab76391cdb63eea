// The part of the Python module that is about chains: compiled by itself, since it is large.
#pragma once

#include <nanobind/nanobind.h>

namespace bayesbox {

void bind_chains(nanobind::module_& m);

}  // namespace bayesbox
