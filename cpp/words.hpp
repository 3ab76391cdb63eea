// Words of documents: counted by class, listed by document, and scored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "tokens.hpp"
#include "vocabulary.hpp"

namespace bayesbox {

// Texts one after another in one buffer; document i lies from offset i to offset i + 1.
struct Documents {
  const std::uint8_t* bytes;
  std::vector<std::int64_t> offsets;

  std::size_t size() const { return offsets.size() - 1; }
  void check(std::size_t length) const {
    if (offsets.empty() || offsets.front() < 0) throw std::invalid_argument("offsets: one more than documents is needed");
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
      if (offsets[i] > offsets[i + 1]) throw std::invalid_argument("offsets: not ascending");
    if (static_cast<std::uint64_t>(offsets.back()) > length) throw std::invalid_argument("offsets: past the end");
  }
};

// What counts as a word of a document: single words, or runs of several, joined by a space.
struct Phrases {
  const WordTable* table;
  std::size_t shortest = 2;  // characters of a word
  std::size_t fewest = 1, most = 1;  // words of a phrase
  const Vocabulary* stop = nullptr;  // words to pass over before phrases are made
};

class PhraseReader {
 public:
  explicit PhraseReader(const Phrases& options) : options_(options), tokeniser_(*options.table, options.shortest) {
    if (options.fewest < 1 || options.most < options.fewest) throw std::invalid_argument("phrases: of no length");
  }

  template <class Each>
  void read(const Documents& documents, std::size_t row, Each&& each) {
    const std::uint8_t* const begin = documents.bytes + documents.offsets[row];
    const std::uint8_t* const end = documents.bytes + documents.offsets[row + 1];
    const auto kept = [&](const std::uint8_t* bytes, std::size_t length) {
      return options_.stop == nullptr || !options_.stop->contains(bytes, length);
    };
    if (options_.most == 1) {
      tokeniser_.words(begin, end, [&](const std::uint8_t* bytes, std::size_t length) {
        if (kept(bytes, length)) each(bytes, length);
      });
      return;
    }
    text_.clear();
    starts_.clear();
    tokeniser_.words(begin, end, [&](const std::uint8_t* bytes, std::size_t length) {
      if (!kept(bytes, length)) return;
      starts_.push_back(text_.size());
      text_.insert(text_.end(), bytes, bytes + length);
      text_.push_back(' ');
    });
    starts_.push_back(text_.size());
    text_.resize(text_.size() + Tokeniser::kSpare);
    for (std::size_t count = options_.fewest; count <= options_.most; ++count)
      for (std::size_t first = 0; first + count < starts_.size(); ++first)
        each(text_.data() + starts_[first], starts_[first + count] - starts_[first] - 1);
  }

 private:
  Phrases options_;
  Tokeniser tokeniser_;
  std::vector<std::uint8_t> text_;
  std::vector<std::size_t> starts_;
};

inline constexpr std::size_t kAhead = 8;  // words whose numbers are known before they are used

// The numbers of a document's words, the long ones first; unknown words are added to a vocabulary that may change, else
// left out. Short words are looked up when all are read, by when their places in the table have been fetched.
class WordNumbers {
 public:
  explicit WordNumbers(const Phrases& phrases) : reader_(phrases) {}

  template <class AVocabulary>
  const std::vector<std::uint32_t>& read(const Documents& documents, std::size_t row, AVocabulary& vocabulary) {
    keys_.clear();
    numbers_.clear();
    reader_.read(documents, row, [&](const std::uint8_t* bytes, std::size_t length) {
      const Vocabulary::Key key = vocabulary.key_of(bytes, length);
      if (length <= Vocabulary::kShort) {
        vocabulary.prefetch(key);
        keys_.push_back(key);
      } else {
        take(vocabulary, key, bytes, length);
      }
    });
    for (const Vocabulary::Key& key : keys_) take(vocabulary, key, nullptr, 0);
    return numbers_;
  }

 private:
  void take(Vocabulary& vocabulary, const Vocabulary::Key& key, const std::uint8_t* bytes, std::size_t length) {
    numbers_.push_back(vocabulary.add(key, bytes, length));
  }
  void take(const Vocabulary& vocabulary, const Vocabulary::Key& key, const std::uint8_t* bytes, std::size_t length) {
    const std::uint32_t number = vocabulary.find(key, bytes, length);
    if (number != Vocabulary::kNone) numbers_.push_back(number);
  }

  PhraseReader reader_;
  std::vector<Vocabulary::Key> keys_;
  std::vector<std::uint32_t> numbers_;
};

// A vocabulary and, word by word, how often each class used it and in how many of its documents.
class WordCounts {
 public:
  explicit WordCounts(std::size_t classes) : classes_(classes) {}

  // Rows whose class is none are passed over.
  void count(const Documents& documents, const std::int32_t* target, const Phrases& phrases) {
    if (documents.size() > std::numeric_limits<std::uint32_t>::max() - 1) throw std::length_error("too many documents");
    WordNumbers reader(phrases);
    for (std::size_t row = 0; row < documents.size(); ++row) {
      const std::int32_t label = target[row];
      if (label < 0 || static_cast<std::size_t>(label) >= classes_) continue;
      const std::vector<std::uint32_t>& found = reader.read(documents, row, vocabulary_);
      last_.resize(vocabulary_.size());
      cells_.resize(vocabulary_.size() * classes_);
      add(found, row, static_cast<std::size_t>(label));
    }
  }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  std::size_t classes() const { return classes_; }
  std::int64_t words(std::uint32_t number, std::size_t label) const {
    const std::size_t at = number * classes_ + label;
    const auto wrapped = wraps_.empty() ? wraps_.end() : wraps_.find(at);
    return cells_[at].words + (wrapped == wraps_.end() ? 0 : wrapped->second << 32);
  }
  std::int64_t documents(std::uint32_t number, std::size_t label) const {
    return cells_[number * classes_ + label].documents;
  }

 private:
  struct Cell {
    std::uint32_t words = 0, documents = 0;
  };

  // The words of one document, whose counts lie far apart, so that the next ones are asked for ahead.
  void add(const std::vector<std::uint32_t>& found, std::size_t row, std::size_t label) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i + kAhead < found.size()) {
        __builtin_prefetch(&cells_[found[i + kAhead] * classes_ + label], 1);
        __builtin_prefetch(&last_[found[i + kAhead]], 1);
      }
      const std::size_t at = found[i] * classes_ + label;
      if (++cells_[at].words == 0) ++wraps_[at];
      if (last_[found[i]] != row + 1) {
        last_[found[i]] = static_cast<std::uint32_t>(row + 1);
        ++cells_[at].documents;
      }
    }
  }

  std::size_t classes_;
  Vocabulary vocabulary_;
  std::vector<Cell> cells_;  // a word's classes side by side
  std::vector<std::uint32_t> last_;  // the document, from 1, in which a word was seen last
  std::unordered_map<std::size_t, std::int64_t> wraps_;  // how often a cell ran past its 32 bits
};

// The known words of each document with their counts, as compressed rows.
struct Terms {
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int32_t> words;
  std::vector<std::int64_t> counts;
};

inline Terms list_terms(const Documents& documents, const Vocabulary& vocabulary, const Phrases& phrases) {
  Terms terms;
  WordNumbers reader(phrases);
  std::vector<std::int64_t> place(vocabulary.size(), -1);
  for (std::size_t row = 0; row < documents.size(); ++row) {
    const std::int64_t first = terms.starts.back();
    for (const std::uint32_t number : reader.read(documents, row, vocabulary)) {
      if (place[number] < first) {
        place[number] = static_cast<std::int64_t>(terms.words.size());
        terms.words.push_back(static_cast<std::int32_t>(number));
        terms.counts.push_back(0);
      }
      ++terms.counts[static_cast<std::size_t>(place[number])];
    }
    terms.starts.push_back(static_cast<std::int64_t>(terms.words.size()));
  }
  return terms;
}

// Adds to each document's row of `scores` (documents x classes) the weights (words x classes) of its known words: of
// each occurrence, or of each word once. `known` takes the number of weights that were added.
inline void add_weights(const Documents& documents, const Vocabulary& vocabulary, const Phrases& phrases,
                        const double* weights, std::size_t classes, bool once, double* scores, std::int64_t* known) {
  WordNumbers reader(phrases);
  std::vector<std::size_t> last(once ? vocabulary.size() : 0, 0);
  for (std::size_t row = 0; row < documents.size(); ++row) {
    const std::vector<std::uint32_t>& found = reader.read(documents, row, vocabulary);
    double* const score = scores + row * classes;
    std::int64_t used = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i + kAhead < found.size()) __builtin_prefetch(weights + found[i + kAhead] * classes);
      if (once && last[found[i]] == row + 1) continue;
      if (once) last[found[i]] = row + 1;
      const double* const weight = weights + found[i] * classes;
      for (std::size_t label = 0; label < classes; ++label) score[label] += weight[label];
      ++used;
    }
    known[row] = used;
  }
}

}  // namespace bayesbox
