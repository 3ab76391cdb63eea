// Python bindings of text columns: numpy arrays and lists as Arrow buffers.
#include <Python.h>
#include <nanobind/nanobind.h>

#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/interrupt.hpp"
#include "bind/items.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "text/wide_texts.hpp"

namespace bayesbox {

namespace nb = nanobind;

namespace {

// A one-dimensional array of texts of fixed width, in the machine's own byte order.
class WideTexts {
 public:
  explicit WideTexts(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) throw nb::python_error();
    if (view_.ndim == 1 && is_text(view_.format) && view_.itemsize % 4 == 0) return;
    PyBuffer_Release(&view_);
    throw nb::type_error("texts: an array of one dimension and of numpy's type U is needed");
  }
  WideTexts(const WideTexts&) = delete;
  WideTexts& operator=(const WideTexts&) = delete;
  ~WideTexts() { PyBuffer_Release(&view_); }

  bool narrow(Utf8Texts& to) const {
    return narrow_texts(static_cast<const char*>(view_.buf), view_.strides[0], rows(),
                        static_cast<std::size_t>(view_.itemsize / 4), to);
  }

  std::size_t rows() const { return static_cast<std::size_t>(view_.shape[0]); }
  std::vector<std::int64_t> code(std::int32_t* codes) const {
    return code_wide_texts(static_cast<const char*>(view_.buf), view_.strides[0], rows(),
                           static_cast<std::size_t>(view_.itemsize / 4), codes);
  }

 private:
  static bool is_text(const char* format) {  // such as "7w", or "=7w" where it is not aligned
    if (format == nullptr) return false;
    const char own = std::endian::native == std::endian::little ? '<' : '>';
    if (*format == '@' || *format == '=' || *format == own) ++format;
    while (std::isdigit(static_cast<unsigned char>(*format)) != 0) ++format;
    return format[0] == 'w' && format[1] == '\0';
  }

  Py_buffer view_{};
};

nb::object buffers_of(Utf8Texts&& texts) {
  return nb::make_tuple(to_numpy(std::move(texts.letters)), to_numpy(std::move(texts.offsets)));
}

nb::object py_wide_text_bytes(nb::handle array) {
  const WideTexts texts(array);
  Utf8Texts found;
  bool valid = false;
  {
    LongCall call;
    valid = texts.narrow(found);
  }
  return valid ? buffers_of(std::move(found)) : nb::none();
}

nb::tuple py_factorize_wide_texts(nb::handle array) {
  const WideTexts texts(array);
  ResultArray<std::int32_t> codes(texts.rows());
  std::vector<std::int64_t> first;
  {
    LongCall call;
    first = texts.code(codes.data());
  }
  return nb::make_tuple(std::move(codes).to_numpy({texts.rows()}), to_numpy(std::move(first)));
}

nb::object py_plain_text_bytes(nb::handle sequence) {
  if (!PyList_Check(sequence.ptr()) && !PyTuple_Check(sequence.ptr())) throw nb::type_error("texts: a list or a tuple is needed");
  const Items items(sequence, "texts: a list or a tuple is needed");
  const std::size_t size = items.size();
  if (size > 0 && !PyUnicode_CheckExact(items[0])) return nb::none();
  Utf8Texts found;
  found.offsets.reserve(size + 1);
  found.offsets.push_back(0);
  for (std::size_t i = 0; i < size; ++i) {
    if (!PyUnicode_CheckExact(items[i])) return nb::none();
    const std::string_view text = utf8_or_null(items[i]);
    if (text.data() == nullptr) {
      if (PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) throw nb::python_error();
      PyErr_Clear();
      return nb::none();
    }
    found.letters.append(text);
    found.offsets.push_back(static_cast<std::int64_t>(found.letters.size()));
  }
  return buffers_of(std::move(found));
}

}  // namespace

void register_text_columns(nb::module_& m) {
  using namespace nb::literals;
  m.def("wide_text_bytes", &py_wide_text_bytes, "texts"_a);
  m.def("factorize_wide_texts", &py_factorize_wide_texts, "texts"_a);
  m.def("plain_text_bytes", &py_plain_text_bytes, "texts"_a);
}

}  // namespace bayesbox
