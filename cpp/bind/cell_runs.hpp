// The robust density of a column as it was fitted, which Python hands on and the core keeps.
#pragma once

#include <memory>

#include "table/cell_runs.hpp"

namespace bayesbox {

struct PyCellRuns {
  std::shared_ptr<const CellRuns> found;
  bool zero_apart = true;  // where it is

  CellDensity density() const { return found->density(zero_apart); }
};

}  // namespace bayesbox
