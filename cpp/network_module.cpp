// The Python face of networks, of approximate inference in them, and of learning them.
#include "network_module.hpp"

#include "approximate_binding.hpp"
#include "learning_binding.hpp"
#include "network_binding.hpp"

namespace bayesbox {

void bind_networks(nanobind::module_& m) {
  bind_network(m);
  bind_approximate(m);
  bind_learning(m);
}

}  // namespace bayesbox
