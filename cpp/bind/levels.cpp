// The levels of a column for Python, kept as bytes while batches are counted.
#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/documents.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/exact_array.hpp"
#include "table/level_dictionary.hpp"

namespace bayesbox {
namespace {

// All calls keep the GIL, so that a dictionary may be shared between threads.
nb::object py_codes(LevelDictionary& self, nb::handle letters, nb::handle offsets) {
  const DocumentArguments given(letters, offsets);
  const std::vector<std::int64_t>& places = given.documents.offsets;
  const std::size_t size = places.empty() ? 0 : static_cast<std::size_t>(places.back());
  std::vector<std::int64_t> found = self.codes({reinterpret_cast<const char*>(given.documents.bytes), size}, places);
  return to_numpy(std::move(found));
}

// The sum of cells by this dictionary and of what was counted by another, whose texts stand one after another.
ExactArray py_sum(LevelDictionary& self, const ExactArray& cells, nb::handle letters, nb::handle offsets,
                  const ExactArray& counted, std::int64_t classes) {
  const DocumentArguments given(letters, offsets);
  const std::vector<std::int64_t>& places = given.documents.offsets;
  const std::size_t width = as_size(classes, "classes"), levels = places.empty() ? 0 : places.size() - 1;
  if (width == 0) throw nb::value_error("classes: needed");
  if (counted.size() % width != 0 || counted.size() / width != levels)
    throw nb::value_error("counted: there must be one cell per level and class");
  if (cells.size() % width != 0 || cells.size() / width > self.size())
    throw nb::value_error("cells: there must be no more than one per level and class");
  const std::size_t size = places.empty() ? 0 : static_cast<std::size_t>(places.back());
  const std::vector<std::int64_t>& codes =
      self.codes({reinterpret_cast<const char*>(given.documents.bytes), size}, places);
  ExactArray total = cells.lengthened(self.size() * width);
  total.merge_groups(counted, codes, width);
  return total;
}

std::vector<std::int64_t> codes_from(const LevelDictionary& self, nb::handle object) {
  const Buffer buffer(object, "codes");
  std::vector<std::int64_t> codes = buffer.need_dimensions(1).need_integer().integers();
  for (const std::int64_t code : codes)
    if (code < 0 || static_cast<std::size_t>(code) >= self.size()) buffer.refuse("there is no such level");
  return codes;
}

nb::object py_sorted(const LevelDictionary& self, nb::handle codes) {
  std::vector<std::int64_t> found = codes_from(self, codes);
  self.sort(found);
  return to_numpy(std::move(found));
}

nb::list py_texts(const LevelDictionary& self, nb::handle codes) {
  nb::list texts;
  for (const std::int64_t code : codes_from(self, codes)) {
    const std::string_view level = self.level(static_cast<std::size_t>(code));
    PyObject* const text = PyUnicode_DecodeUTF8(level.data(), static_cast<Py_ssize_t>(level.size()), nullptr);
    if (text == nullptr) throw nb::python_error();
    texts.append(nb::steal(text));
  }
  return texts;
}

}  // namespace

void register_levels(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<LevelDictionary>(m, "LevelDictionary")
      .def(nb::init<>())
      .def("__len__", &LevelDictionary::size)
      .def("codes", &py_codes, "letters"_a, "offsets"_a)
      .def("codes_of",
           [](LevelDictionary& self, const LevelDictionary& other) { return to_numpy(self.codes(other)); }, "other"_a)
      .def("sum", &py_sum, "cells"_a, "letters"_a, "offsets"_a, "counted"_a, "classes"_a)
      .def("sorted", &py_sorted, "codes"_a)
      .def("texts", &py_texts, "codes"_a);
}

}  // namespace bayesbox
