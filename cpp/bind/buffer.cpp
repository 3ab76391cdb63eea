// The parts of a buffer that need not be compiled in every unit.
#include "bind/buffer.hpp"

#include <bit>

namespace bayesbox {

Buffer::Buffer(nb::handle object, const char* what) : what_(what) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    refuse_type("is no array of numbers");
  }
  held_ = true;
  kind_ = kind_of(view_.format, view_.itemsize);
}

const Buffer& Buffer::need_dimensions(int count) const {
  if (view_.ndim != count) refuse("must have " + std::to_string(count) + " dimension(s)");
  return *this;
}

const Buffer& Buffer::need_length(int axis, std::size_t length_wanted) const {
  if (length(axis) != length_wanted)
    refuse("has length " + std::to_string(length(axis)) + ", expected " + std::to_string(length_wanted));
  return *this;
}

const Buffer& Buffer::need_kind(Kind kind, const char* name) const {
  if (kind_ != kind) refuse_type(std::string("must be of type ") + name);
  return *this;
}

const Buffer& Buffer::need_integer() const {
  if (is_floating(kind_)) refuse_type("must be of an integer type");
  return *this;
}

std::vector<double> Buffer::doubles() const {
  std::vector<double> values;
  if (view_.ndim == 1) {
    values.resize(length(0));
    read_doubles(column(), 0, values.size(), values.data());
  } else {
    need_dimensions(2);
    values.resize(length(0) * length(1));
    for (std::size_t i = 0; i < length(0); ++i) read_doubles(row(i), 0, length(1), values.data() + i * length(1));
  }
  return values;
}

const double* Buffer::doubles_in_place() const {
  Py_ssize_t stride = sizeof(double);
  for (int axis = view_.ndim - 1; axis >= 0; stride *= view_.shape[axis--])
    if (view_.shape[axis] > 1 && view_.strides[axis] != stride) return nullptr;
  const bool aligned = reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(double) == 0;
  return kind_ == Kind::float64 && aligned ? static_cast<const double*>(view_.buf) : nullptr;
}

std::vector<std::int64_t> Buffer::integers() const {
  const Column from = need_integer().column();
  std::vector<std::int64_t> values(from.rows);
  with_integer_type(from.kind, [&]<class T>() {
    for (std::size_t i = 0; i < from.rows; ++i) values[i] = static_cast<std::int64_t>(load<T>(from.at(i)));
  });
  return values;
}

void Buffer::refuse(const std::string& reason) const {
  throw nb::value_error((std::string(what_) + ": " + reason).c_str());
}

void Buffer::refuse_type(const std::string& reason) const {
  throw nb::type_error((std::string(what_) + ": " + reason).c_str());
}

Kind Buffer::kind_of(const char* format, Py_ssize_t size) {
  // `=`, `@` and the machine's own order are read; the other byte order is not.
  const char own = std::endian::native == std::endian::little ? '<' : '>';
  if (format != nullptr && (*format == '@' || *format == '=' || *format == own)) ++format;
  if (format == nullptr || format[0] == '\0' || format[1] != '\0') return unsupported();
  switch (*format) {
    case '?': return Kind::uint8;
    case 'b': case 'h': case 'i': case 'l': case 'q': case 'n':
      return size == 1 ? Kind::int8 : size == 2 ? Kind::int16 : size == 4 ? Kind::int32 : Kind::int64;
    case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N':
      return size == 1 ? Kind::uint8 : size == 2 ? Kind::uint16 : size == 4 ? Kind::uint32 : Kind::uint64;
    case 'f': return Kind::float32;
    case 'd': return Kind::float64;
    default: return unsupported();
  }
}

Kind Buffer::unsupported() {
  PyBuffer_Release(&view_);  // the destructor does not run for an object that was not built
  held_ = false;
  refuse_type("has an unsupported element type");
}

}  // namespace bayesbox
