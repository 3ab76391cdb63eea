// Python bindings of texts: their words, and rows as delimited text.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/documents.hpp"
#include "bind/interrupt.hpp"
#include "bind/items.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/exact_array.hpp"
#include "table/delimited_text.hpp"
#include "text/left_out_words.hpp"
#include "text/log_shares.hpp"
#include "text/ranked_texts.hpp"
#include "text/words.hpp"

namespace bayesbox {
namespace {

// A word table, its vocabulary of stop words, and the lengths of words and phrases.
struct PhraseOptions {
  std::shared_ptr<const WordTable> table;
  std::size_t shortest, fewest, most;
  std::unique_ptr<Vocabulary> stop;
  bool characters, places;

  Phrases phrases() const { return {table.get(), shortest, fewest, most, stop.get(), characters, places}; }
};

constexpr char kTextsNeeded[] = "a sequence of texts is needed";

std::string_view utf8_of(PyObject* text) {
  Py_ssize_t length = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &length);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(length)};
}

// (the concatenated bytes of the texts; where each begins, and where the last ends); None is empty.
nb::tuple py_text_bytes(nb::handle texts) {
  const Items items(texts, kTextsNeeded);
  std::string letters;
  std::vector<std::int64_t> offsets = {0};
  offsets.reserve(items.size() + 1);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] != Py_None) letters += utf8_of(items[i]);
    offsets.push_back(static_cast<std::int64_t>(letters.size()));
  }
  return nb::make_tuple(to_numpy(std::move(letters)), to_numpy(std::move(offsets)));
}

void append_quoted(std::uint32_t letter, std::string& to) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
  if (letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\') {
    to.push_back(static_cast<char>(letter));
  } else if (const std::size_t place = letter < 128 ? kShort.find(static_cast<char>(letter)) : kShort.npos; place != kShort.npos) {
    to.push_back('\\');
    to.push_back(kNames[place]);
  } else if (letter > 0xffff) {  // as a pair of surrogates
    append_quoted(0xd800 + ((letter - 0x10000) >> 10), to);
    append_quoted(0xdc00 + (letter & 0x3ff), to);
  } else {
    to += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) to.push_back(kDigits[letter >> shift & 15]);
  }
}

// Names as a line of JSON strings, in ASCII.
nb::bytes py_quoted(nb::handle names) {
  const Items items(names, kTextsNeeded);
  std::string line = "[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!PyUnicode_Check(items[i])) throw nb::type_error("names: a text is needed");
    line += i == 0 ? "\"" : ",\"";
    const Py_ssize_t length = PyUnicode_GetLength(items[i]);
    for (Py_ssize_t k = 0; k < length; ++k) append_quoted(PyUnicode_ReadChar(items[i], k), line);
    line.push_back('"');
  }
  line += "]\n";
  return nb::bytes(line.data(), line.size());
}

// The words are views of Python strings, valid as long as the tuple lives.
Vocabulary vocabulary_of(const nb::tuple& words) {
  std::vector<std::string_view> views;
  views.reserve(words.size());
  for (nb::handle word : words) views.push_back(utf8_of(word.ptr()));
  Vocabulary vocabulary;
  LongCall call;
  vocabulary.add_words(views, views.size());
  return vocabulary;
}

constexpr std::size_t kMostClasses = std::size_t{1} << 22;  // of documents; a list of them is made for every batch

void py_count(WordCounts& counts, nb::handle bytes, nb::handle offsets, nb::handle target, std::int64_t classes,
              const PhraseOptions& options) {
  const DocumentArguments given(bytes, offsets);
  const std::size_t class_count = as_size(classes, "classes");
  if (class_count > kMostClasses) throw nb::value_error("classes: more than 2^22");
  const Buffer labels = target_of(target, class_count);
  labels.need_length(0, given.documents.size());
  const std::vector<std::int64_t> wide = labels.integers();
  LongCall call;
  const std::vector<std::int32_t> codes(wide.begin(), wide.end());
  counts.count(given.documents, codes.data(), class_count, options.phrases());
}

// `order` are the numbers of the classes, in the order of the result.
nb::tuple py_counted(WordCounts& counts, nb::handle order, std::uint64_t most) {
  const std::vector<std::int64_t> wanted = Buffer(order, "order").integers();
  const std::size_t width = wanted.size(), size = counts.vocabulary().size();
  std::vector<std::uint8_t> letters;
  std::vector<std::int64_t> ends = {0};
  LargeVector<std::int64_t> words, documents;
  {
    LongCall call;
    if (size * width > most)
      throw std::length_error(std::to_string(width) + " classes x " + std::to_string(size) +
                              " words are more counts than fit");
    std::vector<std::size_t> rows;  // of each class by its number
    for (std::size_t row = 0; row < width; ++row) {
      if (wanted[row] < 0) throw std::invalid_argument("order: a class has no negative number");
      const auto label = static_cast<std::size_t>(wanted[row]);
      if (label >= kMostClasses) throw std::invalid_argument("order: a class has a number below 2^22");
      if (label >= rows.size()) rows.resize(label + 1, width);
      rows[label] = row;
    }
    words.resize(width * size);
    documents.resize(width * size);
    std::vector<std::uint32_t> place(size);
    const std::vector<std::uint32_t> sorted = counts.vocabulary().sorted();
    letters.reserve(counts.vocabulary().bytes());
    ends.reserve(size + 1);
    for (std::size_t i = 0; i < size; ++i) {
      const std::string_view word = counts.vocabulary().word(sorted[i]);
      letters.insert(letters.end(), word.begin(), word.end());
      ends.push_back(static_cast<std::int64_t>(letters.size()));
      place[sorted[i]] = static_cast<std::uint32_t>(i);
    }
    for (const WordCounts::Entry& entry : counts.entries()) {
      if (entry.label >= rows.size() || rows[entry.label] == width)
        throw std::invalid_argument("order: a class that was counted is not in it");
      const std::size_t at = rows[entry.label] * size + place[entry.word];
      words[at] += entry.words;
      documents[at] += entry.documents;
    }
  }
  const std::size_t length = letters.size();
  return nb::make_tuple(to_numpy(std::move(letters), {length}), to_numpy(std::move(ends), {size + 1}),
                        ExactArray::of_integers(std::move(words)), ExactArray::of_integers(std::move(documents)));
}

bool py_holds_pair(nb::handle bytes, std::uint8_t first, std::uint8_t second) {
  const Buffer buffer(bytes, "bytes");
  const Column column = buffer.need_dimensions(1).need_kind(Kind::uint8, "uint8").column();
  if (column.rows > 1 && column.stride != 1) buffer.refuse("not contiguous");
  LongCall call;
  return holds_pair(reinterpret_cast<const std::uint8_t*>(column.data), column.rows, first, second);
}

// Levels x classes: log(over) - log(under) of counts (classes x levels) and the sums they are shares of (classes).
nb::object py_log_shares(nb::handle over, nb::handle under) {
  const auto counts = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(over);
  const auto totals = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(under);
  const std::size_t classes = counts.shape(0), levels = counts.shape(1);
  if (totals.shape(0) != classes) throw nb::value_error("under: one sum a class is needed");
  ResultArray<double> shares(classes * levels);
  {
    LongCall call;
    log_shares(counts.data(), totals.data(), classes, levels, shares.data());
  }
  return std::move(shares).to_numpy({levels, classes});
}

using Doubles1 = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Classes of documents, each of which is one of `classes`.
std::vector<std::int32_t> known_classes(nb::handle target, std::size_t documents, std::size_t classes) {
  const Buffer labels = target_of(target, classes);
  labels.need_length(0, documents);
  const std::vector<std::int64_t> wide = labels.integers();
  for (const std::int64_t label : wide)
    if (label < 0 || static_cast<std::size_t>(label) >= classes) throw nb::value_error("target: a document has no class");
  return {wide.begin(), wide.end()};
}

// (documents x classes: the sums, the words that were added up), or None if a document was never learned.
nb::object py_left_out_words(nb::handle starts, nb::handle words, nb::handle times, nb::handle target, nb::handle counts,
                             nb::handle totals, nb::handle everywhere, double size, double added, bool complement) {
  const auto table = nb::cast<Doubles2>(counts);
  const auto total = nb::cast<Doubles1>(totals);
  const auto often = nb::cast<Doubles1>(times);
  const std::vector<std::int64_t> places = Buffer(starts, "starts").integers();
  const std::vector<std::int64_t> wide = Buffer(words, "words").integers();
  const std::size_t width = table.shape(0), classes = table.shape(1);
  if (places.empty() || total.shape(0) != classes || often.shape(0) != wide.size())
    throw nb::value_error("counts, totals and times: of other lengths");
  const std::size_t documents = places.size() - 1;
  for (std::size_t i = 0; i < documents; ++i)
    if (places[i] < 0 || places[i] > places[i + 1]) throw nb::value_error("starts: not ascending");
  if (places.front() != 0 || static_cast<std::size_t>(places.back()) != wide.size()) throw nb::value_error("starts: not of all words");
  for (const std::int64_t word : wide)
    if (word < 0 || static_cast<std::size_t>(word) >= width) throw nb::value_error("words: one is not in counts");
  const std::vector<std::int32_t> numbers(wide.begin(), wide.end()), own = known_classes(target, documents, classes);
  nb::object held = nb::borrow(everywhere);
  const double* all = nullptr;
  if (!held.is_none()) {
    const auto given = nb::cast<Doubles1>(held);
    if (given.shape(0) != width) throw nb::value_error("everywhere: one number a word is needed");
    all = given.data();
  }
  std::vector<double> sums(documents * classes), known(documents);
  bool learned = false;
  {
    LongCall call;
    learned = sum_left_out_words({places.data(), numbers.data(), often.data(), own.data(), documents, table.data(), total.data(),
                                  all, classes, size, added, complement},
                                 sums.data(), known.data());
  }
  if (!learned) return nb::none();
  return nb::make_tuple(to_numpy(std::move(sums), {documents, classes}), to_numpy(std::move(known), {documents}));
}

// (loss, slope, curvature, the loss of each document).
nb::tuple py_strength_loss(nb::handle sums, nb::handle factors, nb::handle prior, nb::handle target, double strength) {
  const auto table = nb::cast<Doubles2>(sums);
  const auto factor = nb::cast<Doubles1>(factors);
  const auto base = nb::cast<Doubles1>(prior);
  const std::size_t documents = table.shape(0), classes = table.shape(1);
  if (documents == 0 || factor.shape(0) != documents || base.shape(0) != classes) throw nb::value_error("sums, factors and prior: of other lengths");
  const std::vector<std::int32_t> own = known_classes(target, documents, classes);
  std::vector<double> losses(documents);
  StrengthLoss found{};
  {
    LongCall call;
    found = strength_loss(table.data(), factor.data(), base.data(), own.data(), documents, classes, strength, losses.data());
  }
  return nb::make_tuple(found.loss, found.slope, found.curvature, to_numpy(std::move(losses), {documents}));
}

nb::object py_text_keys(nb::handle bytes, nb::handle offsets) {
  const DocumentArguments given(bytes, offsets);
  const std::size_t rows = given.documents.size();
  std::vector<std::uint64_t> keys(rows);
  {
    LongCall call;
    for (std::size_t row = 0; row < rows; ++row) {
      poll(8 + given.documents.bytes_of(row) / 8);
      keys[row] = text_key(given.documents.bytes + given.documents.offsets[row], given.documents.bytes_of(row));
    }
  }
  return to_numpy(std::move(keys), {rows});
}

nb::tuple py_rank_texts(nb::handle bytes, nb::handle offsets) {
  const DocumentArguments given(bytes, offsets);
  RankedTexts ranked;
  {
    LongCall call;
    ranked = rank_texts(given.documents);
  }
  const std::size_t length = ranked.letters.size(), size = ranked.ends.size(), rows = ranked.ranks.size();
  return nb::make_tuple(to_numpy(std::move(ranked.letters), {length}), to_numpy(std::move(ranked.ends), {size}),
                        to_numpy(std::move(ranked.ranks), {rows}));
}

nb::tuple py_list_terms(nb::handle bytes, nb::handle offsets, const Vocabulary& vocabulary,
                        const PhraseOptions& options) {
  const DocumentArguments given(bytes, offsets);
  Terms terms;
  {
    LongCall call;
    terms = list_terms(given.documents, vocabulary, options.phrases());
  }
  const std::size_t rows = terms.starts.size(), entries = terms.words.size();
  return nb::make_tuple(to_numpy(std::move(terms.starts), {rows}), to_numpy(std::move(terms.words), {entries}),
                        to_numpy(std::move(terms.counts), {entries}));
}

nb::tuple py_score_words(nb::handle bytes, nb::handle offsets, const Vocabulary& vocabulary, nb::handle weights,
                         bool once, const PhraseOptions& options) {
  const DocumentArguments given(bytes, offsets);
  const auto table = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(weights);
  if (table.shape(0) != vocabulary.size()) throw nb::value_error("weights: one row a word is needed");
  const std::size_t rows = given.documents.size(), classes = table.shape(1);
  std::vector<double> scores(rows * classes);
  std::vector<std::int64_t> known(rows);
  {
    LongCall call;
    add_weights(given.documents, vocabulary, options.phrases(), table.data(), classes, once, scores.data(),
                known.data());
  }
  return nb::make_tuple(to_numpy(std::move(scores), {rows, classes}), to_numpy(std::move(known), {rows}));
}

// Each column: (numbers, None, present) or (bytes of texts, where each begins, present); present is a byte a row or None.
nb::bytes py_delimited_lines(nb::list columns, std::int64_t rows, const char* delimiter, bool escape) {
  if (rows < 0 || std::string_view(delimiter).size() != 1) throw nb::value_error("rows: 0 or more; delimiter: one byte");
  if (rows > 0 && columns.size() == 0) throw nb::value_error("rows: there are none without columns");
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
    LongCall call;
    lines = delimited_lines(written, size, delimiter[0], escape);
  }
  return nb::bytes(lines.data(), lines.size());
}

bool py_quotes_enclose_fields(nb::handle text, const char* delimiter) {
  if (std::string_view(delimiter).size() != 1) throw nb::value_error("delimiter: one byte");
  const Buffer buffer(text, "text");
  const Column bytes = buffer.need_dimensions(1).need_kind(Kind::uint8, "uint8").column();
  if (bytes.rows > 1 && bytes.stride != 1) buffer.refuse("not contiguous");
  LongCall call;
  return quotes_enclose_fields({bytes.data, bytes.rows}, delimiter[0]);
}

}  // namespace

void register_text(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__",
           [](Vocabulary* self, const nb::tuple& words) { new (self) Vocabulary(vocabulary_of(words)); }, "words"_a)
      .def("__len__", &Vocabulary::size);
  nb::class_<PhraseOptions>(m, "Phrases")
      .def("__init__",
           [](PhraseOptions* self, nb::handle table, std::int64_t shortest, std::int64_t fewest, std::int64_t most,
              const nb::tuple& stop, bool characters, bool places) {
             const auto given = nb::cast<nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(table);
             if (shortest < 1) throw nb::value_error("shortest: at least 1");
             if (fewest < 1 || most < fewest || most > 64) throw nb::value_error("phrases: from 1 to 64 words");
             auto lower = std::make_shared<const WordTable>(
                 std::vector<std::uint32_t>(given.data(), given.data() + given.shape(0)));
             auto words = stop.size() == 0 ? nullptr : std::make_unique<Vocabulary>(vocabulary_of(stop));
             new (self) PhraseOptions{std::move(lower), static_cast<std::size_t>(shortest),
                                      static_cast<std::size_t>(fewest), static_cast<std::size_t>(most), std::move(words),
                                      characters, places};
           },
           "table"_a, "shortest"_a, "fewest"_a, "most"_a, "stop_words"_a, "characters"_a, "places"_a);
  nb::class_<WordCounts>(m, "WordCounts")
      .def(nb::init<>())
      .def("__len__", [](const WordCounts& counts) { return counts.vocabulary().size(); })
      .def("count", &py_count, "bytes"_a, "offsets"_a, "target"_a, "classes"_a, "phrases"_a)
      .def("merge", &WordCounts::merge, "other"_a, nb::call_guard<LongCall>())
      .def("prune",
           [](WordCounts& counts, std::int64_t limit) {
             if (limit < 1) throw nb::value_error("limit: at least 1");
             LongCall call;
             return counts.prune(static_cast<std::size_t>(limit));
           },
           "limit"_a)
      .def("drop_phrases", &WordCounts::drop_phrases, nb::call_guard<LongCall>())
      .def("counted", &py_counted, "order"_a, "most"_a);
  m.def("text_bytes", &py_text_bytes, "texts"_a);
  m.def("quoted", &py_quoted, "names"_a);
  m.def("holds_pair", &py_holds_pair, "bytes"_a, "first"_a, "second"_a);
  m.def("log_shares", &py_log_shares, "over"_a, "under"_a);
  m.def("left_out_words", &py_left_out_words, "starts"_a, "words"_a, "times"_a, "target"_a, "counts"_a, "totals"_a,
        "everywhere"_a.none(), "size"_a, "added"_a, "complement"_a);
  m.def("strength_loss", &py_strength_loss, "sums"_a, "factors"_a, "prior"_a, "target"_a, "strength"_a);
  m.def("text_keys", &py_text_keys, "bytes"_a, "offsets"_a);
  m.def("rank_texts", &py_rank_texts, "bytes"_a, "offsets"_a);
  m.def("list_terms", &py_list_terms, "bytes"_a, "offsets"_a, "vocabulary"_a, "phrases"_a);
  m.def("score_words", &py_score_words, "bytes"_a, "offsets"_a, "vocabulary"_a, "weights"_a, "once"_a, "phrases"_a);
  m.def("quotes_enclose_fields", &py_quotes_enclose_fields, "text"_a, "delimiter"_a);
  m.def("delimited_lines", &py_delimited_lines, "columns"_a, "rows"_a, "delimiter"_a, "escape"_a);
}

}  // namespace bayesbox
