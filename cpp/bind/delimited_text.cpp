// Rows as delimited text for Python.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/documents.hpp"
#include "bind/register.hpp"
#include "table/delimited_text.hpp"

namespace bayesbox {
namespace {

// Each column: (numbers, None, present) or (bytes of texts, where each begins, present); present is a byte a row or None.
nb::bytes py_delimited_lines(nb::list columns, std::int64_t rows, const char* delimiter, bool escape) {
  if (rows < 0 || std::string_view(delimiter).size() != 1) throw nb::value_error("rows: 0 or more; delimiter: one byte");
  const auto size = static_cast<std::size_t>(rows);
  std::vector<Buffer> held;
  std::vector<DocumentArguments> texts;
  held.reserve(2 * columns.size());
  texts.reserve(columns.size());
  std::vector<WrittenColumn> written;
  for (nb::handle item : columns) {
    const nb::tuple parts = nb::tuple(nb::borrow(item));
    if (parts.size() != 3) throw nb::value_error("columns: three parts each");
    WrittenColumn& column = written.emplace_back();
    column.present = nullptr;
    if (parts[1].is_none()) {
      column.values = held.emplace_back(parts[0], "numbers").need_dimensions(1).need_length(0, size).column();
    } else {
      const Documents& documents = texts.emplace_back(parts[0], parts[1]).documents;
      if (documents.size() != size) throw nb::value_error("columns: of other lengths");
      column.values = TextColumn{reinterpret_cast<const char*>(documents.bytes), documents.offsets};
    }
    if (parts[2].is_none()) continue;
    const Column present = held.emplace_back(parts[2], "present").need_dimensions(1).need_kind(Kind::uint8, "uint8").need_length(0, size).column();
    if (size > 1 && present.stride != 1) throw nb::value_error("present: not contiguous");
    column.present = reinterpret_cast<const std::uint8_t*>(present.data);
  }
  std::string lines;
  {
    nb::gil_scoped_release release;
    lines = delimited_lines(written, size, delimiter[0], escape);
  }
  return nb::bytes(lines.data(), lines.size());
}

}  // namespace

void register_delimited_text(nb::module_& m) {
  using namespace nb::literals;
  m.def("delimited_lines", &py_delimited_lines, "columns"_a, "rows"_a, "delimiter"_a, "escape"_a);
}

}  // namespace bayesbox
