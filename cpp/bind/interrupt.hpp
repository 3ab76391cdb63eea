// A call that releases the GIL and can be interrupted.
#pragma once

#include <nanobind/nanobind.h>

#include "core/interrupt.hpp"

namespace bayesbox {

// Polls for an interrupt, since a thread may make many short calls, and then releases the GIL until the end of the scope.
class LongCall {
 public:
  LongCall() = default;

 private:
  struct Look {
    Look() { look_for_interrupt(); }
  };
  Look look_;
  nanobind::gil_scoped_release release_;
};

}  // namespace bayesbox
