// What the runs of junction trees work on. A model keeps one for all its trees, and need not know them for that.
#pragma once

#include <vector>

#include "core/table_buffer.hpp"
#include "network/scaling.hpp"

namespace bayesbox {

class IndexMap;

struct JunctionScratch {
  // What a clique's table is multiplied by.
  struct Factor {
    const IndexMap* map;
    const double* table;
    Extent extent;
  };
  TableBuffer tables;
  std::vector<double> upward, downward, ratios;
  std::vector<Extent> messages;
  std::vector<Factor> factors;
};

}  // namespace bayesbox
