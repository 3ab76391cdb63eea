// The ledger of rows for Python.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "table/row_ledger.hpp"

namespace bayesbox {
namespace {

// Texts held open during a call.
struct TextArguments {
  TextArguments(nb::handle bytes, nb::handle offsets) : buffer(bytes, "bytes") {
    const Column column = buffer.need_dimensions(1).need_kind(Kind::uint8, "uint8").column();
    if (column.rows > 1 && column.stride != 1) buffer.refuse("not contiguous");
    texts.bytes = reinterpret_cast<const std::uint8_t*>(column.data);
    texts.offsets = Buffer(offsets, "offsets").integers();
    if (texts.offsets.empty() || texts.offsets.front() < 0) buffer.refuse("offsets: one more than texts is needed");
    for (std::size_t i = 0; i + 1 < texts.offsets.size(); ++i)
      if (texts.offsets[i] > texts.offsets[i + 1]) buffer.refuse("offsets: not ascending");
    if (static_cast<std::uint64_t>(texts.offsets.back()) > column.rows) buffer.refuse("offsets: past the end");
  }
  Buffer buffer;
  Texts texts;
};

// Each column is (name, tag, values, None, None) of numbers, or (name, tag, codes, bytes, offsets) of texts.
nb::object py_row_ledger(nb::list columns, nb::handle target, nb::handle label_bytes, nb::handle label_offsets,
                         nb::handle weights) {
  const Buffer labels = target_of(target);
  const std::size_t rows = labels.length(0);
  const TextArguments label_texts(label_bytes, label_offsets);
  need_classes(labels, label_texts.texts.size());
  const std::optional<Buffer> weight_buffer = weights_of(weights, rows);
  if (weight_buffer) {
    const Column column = weight_buffer->column();
    for (std::size_t row = 0; row < rows; ++row)
      if (load<double>(column.at(row)) < 0) weight_buffer->refuse("negative");
  }
  std::vector<Buffer> values;
  std::vector<TextArguments> texts;
  std::vector<LedgerColumn> given;
  for (nb::handle item : columns) {
    const nb::tuple parts = nb::cast<nb::tuple>(item);
    if (nb::len(parts) != 5) throw nb::value_error("columns: a name, a tag, values, bytes and offsets are needed");
    LedgerColumn& column = given.emplace_back();
    const nb::bytes name = nb::cast<nb::bytes>(parts[0]), tag = nb::cast<nb::bytes>(parts[1]);
    column.name.assign(name.c_str(), name.size());
    if (tag.size() != 1) throw nb::value_error("columns: a tag is one letter");
    column.tag = tag.c_str()[0];
    Buffer& buffer = values.emplace_back(parts[2], "columns");
    buffer.need_dimensions(1).need_length(0, rows);
    column.values = buffer.column();
    if (column.tag == kNumberTag) continue;
    buffer.need_integer();
    column.texts = texts.emplace_back(parts[3], parts[4]).texts;
  }
  RowLedger ledger;
  {
    LongCall call;
    const Column weight_column = weight_buffer ? weight_buffer->column() : Column{};
    ledger.add(given, labels.column(), label_texts.texts, weight_buffer ? &weight_column : nullptr);
  }
  return to_numpy(ledger.lanes());
}

}  // namespace

void register_ledger(nb::module_& m) {
  m.def("row_ledger", &py_row_ledger, nb::arg("columns"), nb::arg("target"), nb::arg("label_bytes"),
        nb::arg("label_offsets"), nb::arg("weights").none());
}

}  // namespace bayesbox
