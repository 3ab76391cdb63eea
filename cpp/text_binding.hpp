// The Python face of text: included by bind.cpp alone.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "result_array.hpp"
#include "words.hpp"

namespace bayesbox {

// Documents held open for the length of a call.
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

// A word table, its vocabulary of stop words, and the lengths of words and phrases.
struct PhraseOptions {
  std::shared_ptr<const WordTable> table;
  std::size_t shortest, fewest, most;
  std::unique_ptr<Vocabulary> stop;
  bool characters, places;

  Phrases phrases() const { return {table.get(), shortest, fewest, most, stop.get(), characters, places}; }
};

inline Vocabulary vocabulary_of(const Documents& words) {
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < words.size(); ++i)
    vocabulary.add_word({reinterpret_cast<const char*>(words.bytes) + words.offsets[i],
                         static_cast<std::size_t>(words.offsets[i + 1] - words.offsets[i])});
  return vocabulary;
}

inline void py_count(WordCounts& counts, nb::handle bytes, nb::handle offsets, nb::handle target, std::int64_t classes,
                     const PhraseOptions& options) {
  const DocumentArguments given(bytes, offsets);
  const Buffer labels(target, "target");
  labels.need_dimensions(1).need_kind(Kind::int32, "int32").need_length(0, given.documents.size());
  if (classes < 0) throw nb::value_error("classes: negative");
  const std::vector<std::int64_t> wide = labels.integers();
  nb::gil_scoped_release release;
  const std::vector<std::int32_t> codes(wide.begin(), wide.end());
  counts.count(given.documents, codes.data(), static_cast<std::size_t>(classes), options.phrases());
}

inline nb::tuple py_counted(const WordCounts& counts, std::int64_t classes, std::uint64_t most) {
  if (classes < 0) throw nb::value_error("classes: negative");
  const std::size_t width = static_cast<std::size_t>(classes), size = counts.vocabulary().size();
  std::vector<std::uint8_t> letters;
  std::vector<std::int64_t> ends = {0}, words, documents;
  {
    nb::gil_scoped_release release;
    if (size * width > most)
      throw std::length_error(std::to_string(width) + " classes x " + std::to_string(size) +
                              " words are more counts than fit");
    const std::vector<std::uint32_t> order = counts.vocabulary().sorted();
    words.resize(width * size);
    documents.resize(width * size);
    std::vector<std::uint32_t> place(size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::string_view word = counts.vocabulary().word(order[i]);
      letters.insert(letters.end(), word.begin(), word.end());
      ends.push_back(static_cast<std::int64_t>(letters.size()));
      place[order[i]] = static_cast<std::uint32_t>(i);
    }
    for (const WordCounts::Entry& entry : counts.entries()) {
      if (entry.label >= width) throw std::invalid_argument("classes: fewer than were counted");
      const std::size_t at = entry.label * size + place[entry.word];
      words[at] += entry.words;
      documents[at] += entry.documents;
    }
  }
  const std::size_t length = letters.size();
  return nb::make_tuple(to_numpy(std::move(letters), {length}), to_numpy(std::move(ends), {size + 1}),
                        to_numpy(std::move(words), {width, size}), to_numpy(std::move(documents), {width, size}));
}

inline nb::tuple py_list_terms(nb::handle bytes, nb::handle offsets, const Vocabulary& vocabulary,
                               const PhraseOptions& options) {
  const DocumentArguments given(bytes, offsets);
  Terms terms;
  {
    nb::gil_scoped_release release;
    terms = list_terms(given.documents, vocabulary, options.phrases());
  }
  const std::size_t rows = terms.starts.size(), entries = terms.words.size();
  return nb::make_tuple(to_numpy(std::move(terms.starts), {rows}), to_numpy(std::move(terms.words), {entries}),
                        to_numpy(std::move(terms.counts), {entries}));
}

inline nb::tuple py_score_words(nb::handle bytes, nb::handle offsets, const Vocabulary& vocabulary, nb::handle weights,
                                bool once, const PhraseOptions& options) {
  const DocumentArguments given(bytes, offsets);
  const auto table = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(weights);
  if (table.shape(0) != vocabulary.size()) throw nb::value_error("weights: one row a word is needed");
  const std::size_t rows = given.documents.size(), classes = table.shape(1);
  std::vector<double> scores(rows * classes);
  std::vector<std::int64_t> known(rows);
  {
    nb::gil_scoped_release release;
    add_weights(given.documents, vocabulary, options.phrases(), table.data(), classes, once, scores.data(),
                known.data());
  }
  return nb::make_tuple(to_numpy(std::move(scores), {rows, classes}), to_numpy(std::move(known), {rows}));
}

inline void bind_text(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__",
           [](Vocabulary* self, nb::handle bytes, nb::handle offsets) {
             const DocumentArguments given(bytes, offsets);
             new (self) Vocabulary(vocabulary_of(given.documents));
           },
           "bytes"_a, "offsets"_a)
      .def("__len__", &Vocabulary::size);
  nb::class_<PhraseOptions>(m, "Phrases")
      .def("__init__",
           [](PhraseOptions* self, nb::handle table, std::int64_t shortest, std::int64_t fewest, std::int64_t most,
              nb::handle stop_bytes, nb::handle stop_offsets, bool characters, bool places) {
             const auto given = nb::cast<nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(table);
             const DocumentArguments stop(stop_bytes, stop_offsets);
             if (shortest < 1) throw nb::value_error("shortest: at least 1");
             if (fewest < 1 || most < fewest || most > 64) throw nb::value_error("phrases: from 1 to 64 words");
             auto lower = std::make_shared<const WordTable>(
                 std::vector<std::uint32_t>(given.data(), given.data() + given.shape(0)));
             auto words = stop.documents.size() == 0 ? nullptr : std::make_unique<Vocabulary>(vocabulary_of(stop.documents));
             new (self) PhraseOptions{std::move(lower), static_cast<std::size_t>(shortest),
                                      static_cast<std::size_t>(fewest), static_cast<std::size_t>(most), std::move(words),
                                      characters, places};
           },
           "table"_a, "shortest"_a, "fewest"_a, "most"_a, "stop_bytes"_a, "stop_offsets"_a, "characters"_a, "places"_a);
  nb::class_<WordCounts>(m, "WordCounts")
      .def(nb::init<>())
      .def("__len__", [](const WordCounts& counts) { return counts.vocabulary().size(); })
      .def("count", &py_count, "bytes"_a, "offsets"_a, "target"_a, "classes"_a, "phrases"_a)
      .def("merge", &WordCounts::merge, "other"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("prune",
           [](WordCounts& counts, std::int64_t limit) {
             if (limit < 1) throw nb::value_error("limit: at least 1");
             nb::gil_scoped_release release;
             return counts.prune(static_cast<std::size_t>(limit));
           },
           "limit"_a)
      .def("counted", &py_counted, "classes"_a, "most"_a);
  m.def("list_terms", &py_list_terms, "bytes"_a, "offsets"_a, "vocabulary"_a, "phrases"_a);
  m.def("score_words", &py_score_words, "bytes"_a, "offsets"_a, "vocabulary"_a, "weights"_a, "once"_a, "phrases"_a);
}

}  // namespace bayesbox
