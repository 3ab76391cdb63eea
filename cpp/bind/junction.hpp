// A junction tree as Python holds it.
#pragma once

#include <memory>
#include <vector>

#include "bind/network.hpp"
#include "network/junction.hpp"

namespace bayesbox {

// A junction tree and the number of states it answers for.
struct PyJunctionTree {
  std::shared_ptr<PyFactorModel> model;
  std::vector<char> observed;
  bool softened = false;
  double log2_limit = 0;
  std::unique_ptr<JunctionTree> tree;
};

}  // namespace bayesbox
