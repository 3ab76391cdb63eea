// Documents from Python: the concatenated bytes of all texts, and where each begins.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "bind/buffer.hpp"
#include "text/words.hpp"

namespace bayesbox {

// Documents held open during a call.
class DocumentArguments {
 public:
  DocumentArguments(nb::handle bytes, nb::handle offsets) : buffer_(bytes, "bytes") {
    const Column column = buffer_.need_dimensions(1).need_kind(Kind::uint8, "uint8").column();
    if (column.rows > 1 && column.stride != 1) buffer_.refuse("not contiguous");
    documents.bytes = reinterpret_cast<const std::uint8_t*>(column.data);
    documents.offsets = Buffer(offsets, "offsets").integers();
    documents.check(column.rows);
  }
  Documents documents;

 private:
  Buffer buffer_;
};

}  // namespace bayesbox
