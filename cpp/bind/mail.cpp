// Python bindings of mail.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/documents.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "mail/document_files.hpp"
#include "mail/message.hpp"

namespace bayesbox {
namespace {

std::string_view text_of(const Documents& texts, std::size_t row) {
  return {reinterpret_cast<const char*>(texts.bytes) + texts.offsets[row],
          static_cast<std::size_t>(texts.offsets[row + 1] - texts.offsets[row])};
}

// A reader with its own buffers, for one thread at a time.
struct SharedMailReader {
  MailReader reader;
  std::mutex busy;
};

// The contents of a bytes object or an array of bytes.
class Bytes {
 public:
  explicit Bytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&view_); }
  std::string_view text() const { return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)}; }

 private:
  Py_buffer view_;
};

nb::tuple py_mail_texts(SharedMailReader& shared, nb::handle data, nb::handle starts, nb::handle stops,
                        nb::handle are_messages) {
  const Bytes bytes(data);
  const std::vector<std::int64_t> from = Buffer(starts, "starts").integers(), to = Buffer(stops, "stops").integers();
  const std::vector<std::int64_t> kinds = Buffer(are_messages, "are_messages").integers();
  if (to.size() != from.size() || kinds.size() != from.size()) throw nb::value_error("starts and stops: of two lengths");
  const std::string_view all = bytes.text();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] < 0 || to[i] < from[i] || static_cast<std::uint64_t>(to[i]) > all.size()) throw nb::value_error("starts: out of range");
  std::string texts;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::uint8_t> unusual;
  {
    LongCall call;
    const std::lock_guard guard(shared.busy);
    texts.reserve(all.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      poll(8 * static_cast<std::size_t>(to[i] - from[i]));
      const std::string_view raw = all.substr(static_cast<std::size_t>(from[i]), static_cast<std::size_t>(to[i] - from[i]));
      const bool read = kinds[i] != 0 ? shared.reader.append_message(raw, texts) : shared.reader.append_plain(raw, texts);
      unusual.push_back(read ? 0 : 1);
      offsets.push_back(static_cast<std::int64_t>(texts.size()));
    }
  }
  return nb::make_tuple(to_numpy(std::move(texts)), to_numpy(std::move(offsets)), to_numpy(std::move(unusual)));
}

nb::tuple py_read_small_files(nb::handle paths, nb::handle ends, nb::handle passed, std::int64_t largest,
                              std::int64_t enough) {
  const DocumentArguments given(paths, ends);
  const std::vector<std::int64_t> skipped = Buffer(passed, "passed").integers();
  if (skipped.size() != given.documents.size()) throw nb::value_error("passed: one entry a path is needed");
  if (largest < 0 || enough < 0) throw nb::value_error("largest and enough: 0 or more");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < given.documents.size(); ++i) names.emplace_back(text_of(given.documents, i));
  SmallFiles files;
  {
    LongCall call;
    files = read_small_files(names, skipped, static_cast<std::size_t>(largest), static_cast<std::size_t>(enough));
  }
  return nb::make_tuple(to_numpy(std::move(files.data)), to_numpy(std::move(files.ends)), to_numpy(std::move(files.kinds)));
}

}  // namespace

void register_mail(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<SharedMailReader>(m, "MailReader")
      .def("__init__",
           [](SharedMailReader* self, nb::handle names, nb::handle name_offsets, nb::handle charsets,
              nb::handle charset_offsets, nb::handle tables, std::int64_t utf8_names, nb::handle references,
              nb::handle reference_offsets) {
             const DocumentArguments heads(names, name_offsets), encodings(charsets, charset_offsets);
             const DocumentArguments pairs(references, reference_offsets);
             const std::vector<std::int64_t> points = Buffer(tables, "tables").integers();
             const std::size_t plain = static_cast<std::size_t>(utf8_names), size = encodings.documents.size();
             if (utf8_names < 0 || plain > size || points.size() != 256 * (size - plain))
               throw nb::value_error("tables: 256 entries an encoding are needed");
             for (const std::int64_t point : points)
               if (point < 0 || point >= static_cast<std::int64_t>(kCodePoints)) throw nb::value_error("tables: no code point");
             std::vector<std::string> wanted;
             for (std::size_t i = 0; i < heads.documents.size(); ++i) wanted.emplace_back(text_of(heads.documents, i));
             Charsets known;
             for (std::size_t i = 0; i < size; ++i) {
               if (i < plain) {
                 known.add_utf8(text_of(encodings.documents, i));
                 continue;
               }
               CharacterTable table;
               for (std::size_t byte = 0; byte < 256; ++byte)
                 table[byte] = static_cast<std::uint32_t>(points[256 * (i - plain) + byte]);
               known.add(text_of(encodings.documents, i), table);
             }
             Markup markup;
             for (std::size_t i = 0; i + 1 < pairs.documents.size(); i += 2)
               markup.name(text_of(pairs.documents, i), text_of(pairs.documents, i + 1));
             new (self) SharedMailReader{MailReader(std::move(wanted), std::move(known), std::move(markup)), {}};
           },
           "names"_a, "name_offsets"_a, "charsets"_a, "charset_offsets"_a, "tables"_a, "utf8_names"_a, "references"_a,
           "reference_offsets"_a)
      .def("texts", &py_mail_texts, "data"_a, "starts"_a, "stops"_a, "are_messages"_a)
      .def("without_markup",
           [](SharedMailReader& shared, nb::handle page) {
             const Bytes bytes(page);
             std::string text;
             {
               LongCall call;
               const std::lock_guard guard(shared.busy);
               shared.reader.append_markup(bytes.text(), text);
             }
             return nb::bytes(text.data(), text.size());
           },
           "page"_a);
  m.def("is_mailbox", [](nb::handle data) { return is_mailbox(Bytes(data).text()); }, "data"_a);
  m.def("is_message", [](nb::handle data) { return is_message(Bytes(data).text()); }, "data"_a);
  m.def("read_small_files", &py_read_small_files, "paths"_a, "ends"_a, "passed"_a, "largest"_a, "enough"_a);
  m.def("cut_mailbox",
        [](nb::handle data, bool last) {
          const Bytes bytes(data);
          Mailbox box;
          {
            LongCall call;
            box = cut_mailbox(bytes.text(), last);
          }
          return nb::make_tuple(to_numpy(std::move(box.starts)), to_numpy(std::move(box.stops)), box.used);
        },
        "data"_a, "last"_a);
}

}  // namespace bayesbox
