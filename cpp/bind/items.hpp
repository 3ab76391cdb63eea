// Lists, tuples and texts of Python, by the stable ABI if the module is built for it, else faster.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string_view>

namespace bayesbox {

// The items of any Python sequence.
class Items {
 public:
  Items(nanobind::handle sequence, const char* needed) : list_(nanobind::steal(PySequence_Fast(sequence.ptr(), needed))) {
    if (!list_.is_valid()) throw nanobind::python_error();
    is_list_ = PyList_Check(list_.ptr());
  }
  std::size_t size() const { return static_cast<std::size_t>(Py_SIZE(list_.ptr())); }
  PyObject* operator[](std::size_t i) const {
    const auto place = static_cast<Py_ssize_t>(i);
    return is_list_ ? NB_LIST_GET_ITEM(list_.ptr(), place) : NB_TUPLE_GET_ITEM(list_.ptr(), place);
  }

 private:
  nanobind::object list_;
  bool is_list_ = false;
};

// A text as UTF-8; no data, with Python's error set, if it cannot be encoded.
inline std::string_view utf8_or_null(PyObject* text) {
#if !defined(Py_LIMITED_API)
  if (PyUnicode_IS_COMPACT_ASCII(text))
    return {static_cast<const char*>(PyUnicode_DATA(text)), static_cast<std::size_t>(PyUnicode_GET_LENGTH(text))};
#endif
  Py_ssize_t length = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &length);
  return {bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(length)};
}

}  // namespace bayesbox
