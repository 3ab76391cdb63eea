// A call that lets other threads run Python, and that an interrupt may end.
#pragma once

#include <nanobind/nanobind.h>

#include "core/interrupt.hpp"

namespace bayesbox {

// Looks for an interrupt, since a thread may make many short calls, and then releases the GIL until it goes.
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
