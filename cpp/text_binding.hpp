// The Python face of text: included by bind.cpp alone.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "exact_array.hpp"
#include "log_shares.hpp"
#include "ranked_texts.hpp"
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

// The words are those of Python's strings, which hold them as long as the tuple lives.
inline Vocabulary vocabulary_of(const nb::tuple& words) {
  std::vector<std::string_view> views;
  views.reserve(words.size());
  for (nb::handle word : words) {
    Py_ssize_t length = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(word.ptr(), &length);
    if (bytes == nullptr) throw nb::python_error();
    views.emplace_back(bytes, static_cast<std::size_t>(length));
  }
  Vocabulary vocabulary;
  nb::gil_scoped_release release;
  vocabulary.add_words(views, views.size());
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

// `order` are the numbers of the classes, in the order of the result.
inline nb::tuple py_counted(WordCounts& counts, nb::handle order, std::uint64_t most) {
  const std::vector<std::int64_t> wanted = Buffer(order, "order").integers();
  const std::size_t width = wanted.size(), size = counts.vocabulary().size();
  std::vector<std::uint8_t> letters;
  std::vector<std::int64_t> ends = {0};
  LargeVector<std::int64_t> words, documents;
  {
    nb::gil_scoped_release release;
    if (size * width > most)
      throw std::length_error(std::to_string(width) + " classes x " + std::to_string(size) +
                              " words are more counts than fit");
    std::vector<std::size_t> rows;  // of each class by its number
    for (std::size_t row = 0; row < width; ++row) {
      if (wanted[row] < 0) throw std::invalid_argument("order: a class has no negative number");
      const auto label = static_cast<std::size_t>(wanted[row]);
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

inline bool py_holds_pair(nb::handle bytes, std::uint8_t first, std::uint8_t second) {
  const Buffer buffer(bytes, "bytes");
  const Column column = buffer.need_dimensions(1).need_kind(Kind::uint8, "uint8").column();
  if (column.rows > 1 && column.stride != 1) buffer.refuse("not contiguous");
  nb::gil_scoped_release release;
  return holds_pair(reinterpret_cast<const std::uint8_t*>(column.data), column.rows, first, second);
}

// Levels x classes: log(over) - log(under) of counts (classes x levels) and the sums they are shares of (classes).
inline nb::object py_log_shares(nb::handle over, nb::handle under) {
  const auto counts = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(over);
  const auto totals = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(under);
  const std::size_t classes = counts.shape(0), levels = counts.shape(1);
  if (totals.shape(0) != classes) throw nb::value_error("under: one sum a class is needed");
  ResultArray<double> shares(classes * levels);
  {
    nb::gil_scoped_release release;
    log_shares(counts.data(), totals.data(), classes, levels, shares.data());
  }
  return std::move(shares).to_numpy({levels, classes});
}

inline nb::tuple py_rank_texts(nb::handle bytes, nb::handle offsets) {
  const DocumentArguments given(bytes, offsets);
  RankedTexts ranked;
  {
    nb::gil_scoped_release release;
    ranked = rank_texts(given.documents);
  }
  const std::size_t length = ranked.letters.size(), size = ranked.ends.size(), rows = ranked.ranks.size();
  return nb::make_tuple(to_numpy(std::move(ranked.letters), {length}), to_numpy(std::move(ranked.ends), {size}),
                        to_numpy(std::move(ranked.ranks), {rows}));
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
      .def("merge", &WordCounts::merge, "other"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("prune",
           [](WordCounts& counts, std::int64_t limit) {
             if (limit < 1) throw nb::value_error("limit: at least 1");
             nb::gil_scoped_release release;
             return counts.prune(static_cast<std::size_t>(limit));
           },
           "limit"_a)
      .def("counted", &py_counted, "order"_a, "most"_a);
  m.def("holds_pair", &py_holds_pair, "bytes"_a, "first"_a, "second"_a);
  m.def("log_shares", &py_log_shares, "over"_a, "under"_a);
  m.def("rank_texts", &py_rank_texts, "bytes"_a, "offsets"_a);
  m.def("list_terms", &py_list_terms, "bytes"_a, "offsets"_a, "vocabulary"_a, "phrases"_a);
  m.def("score_words", &py_score_words, "bytes"_a, "offsets"_a, "vocabulary"_a, "weights"_a, "once"_a, "phrases"_a);
}

}  // namespace bayesbox
