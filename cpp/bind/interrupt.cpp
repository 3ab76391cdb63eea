// Interrupts from Python: pending signals, and flags that stop the threads of a pool.
#include "bind/interrupt.hpp"

#include <Python.h>

#include <memory>

#include "bind/register.hpp"

namespace bayesbox {
namespace {

namespace nb = nanobind;

// Runs the handlers of pending signals, which Python does on its main thread only. An exception of a handler ends the
// call: KeyboardInterrupt, or the exit of a program that is terminated.
void run_signal_handlers() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void raise_interrupted(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

// The threads share ownership of the flag, so that none of them needs Python when it ends.
struct PyStopFlag {
  std::shared_ptr<StopFlag> flag = std::make_shared<StopFlag>(stop_flag);
};

}  // namespace

void register_interrupt(nb::module_& m) {
  nb::register_exception_translator(raise_interrupted);
  interrupt_check.store(&run_signal_handlers);
  nb::class_<PyStopFlag>(m, "StopFlag")
      .def(nb::init<>())
      .def("attach", [](const PyStopFlag& self) { stop_flag = self.flag; })
      .def("set", [](const PyStopFlag& self) { self.flag->set(); });
  m.def("poll", &look_for_interrupt);
}

}  // namespace bayesbox
