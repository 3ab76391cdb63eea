// Python bindings of network files.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "network/bif.hpp"
#include "network/parse_numbers.hpp"

namespace bayesbox {
namespace {

namespace nb = nanobind;

// A parsed file, with the text that its names refer to. Python objects are created on request.
struct PyBifFile {
  nb::bytes text;
  BifFile file;

  static nb::str str(std::string_view s) { return nb::str(s.data(), s.size()); }

  // ([(variable, states, parents, shape, end of its cells)], cells)
  nb::tuple variables() const {
    nb::list found, names;
    std::size_t cells_of_all = 0;
    for (const BifVariable& each : file.variables) {
      names.append(str(each.name));
      cells_of_all += each.table.size();
    }
    std::vector<double> flat;
    flat.reserve(cells_of_all);
    for (const BifVariable& each : file.variables) {
      nb::list states, parents, sizes;
      for (const std::string_view state : each.states) states.append(str(state));
      for (const std::int32_t parent : each.parents) {
        parents.append(names[static_cast<std::size_t>(parent)]);
        sizes.append(file.variables[static_cast<std::size_t>(parent)].states.size());
      }
      sizes.append(each.states.size());
      flat.insert(flat.end(), each.table.begin(), each.table.end());
      found.append(nb::make_tuple(str(each.name), nb::tuple(states), nb::tuple(parents), nb::tuple(sizes), flat.size()));
    }
    return nb::make_tuple(found, to_numpy(std::move(flat)));
  }
};

// (the file, None), or (None, (what, byte, found, remedy)).
nb::tuple py_read_bif(nb::bytes text, std::int64_t nodes, std::int64_t cells, double tolerance, bool normalize) {
  const std::string_view view(text.c_str(), text.size());
  PyBifFile read{text, {}};
  try {
    LongCall call;
    const BifLimits limits{static_cast<std::size_t>(nodes), static_cast<std::size_t>(cells), tolerance, normalize};
    read.file = BifReader(view, limits).read();
  } catch (const TextFault& fault) {
    return nb::make_tuple(nb::none(), nb::make_tuple(fault.what(), fault.offset,
                                                     nb::bytes(fault.found.data(), fault.found.size()),
                                                     fault.remedy.c_str()));
  }
  return nb::make_tuple(nb::cast(std::move(read)), nb::none());
}

// (numbers, the byte behind the last)
nb::tuple py_read_numbers(nb::bytes text, std::size_t at, std::size_t most, nb::bytes between) {
  if (at > text.size()) throw nb::value_error("at: behind the end");
  const std::string_view view(text.c_str(), text.size()), passed(between.c_str(), between.size());
  NumberRun run;
  {
    LongCall call;
    run = read_numbers(view, at, most, passed);
  }
  const std::size_t count = run.values.size();
  return nb::make_tuple(to_numpy(std::move(run.values), {count}), run.end);
}

}  // namespace

void register_network_files(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PyBifFile>(m, "BifFile")
      .def_prop_ro("name", [](const PyBifFile& self) { return PyBifFile::str(self.file.name); })
      .def_prop_ro("has_cycle", [](const PyBifFile& self) { return self.file.has_cycle(); })
      .def("variables", &PyBifFile::variables);
  m.def("read_numbers", &py_read_numbers, "text"_a, "at"_a, "most"_a, "between"_a);
  m.def("read_bif", &py_read_bif, "text"_a, "nodes"_a, "cells"_a, "tolerance"_a, "normalize"_a);
}

}  // namespace bayesbox
