// Words of documents: counted by class, listed by document, and scored.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "text/tokens.hpp"
#include "text/vocabulary.hpp"

namespace bayesbox {

// Texts one after another in one buffer; document i lies from offset i to offset i + 1.
struct Documents {
  const std::uint8_t* bytes;
  std::vector<std::int64_t> offsets;

  std::size_t size() const { return offsets.size() - 1; }
  std::size_t bytes_of(std::size_t row) const { return static_cast<std::size_t>(offsets[row + 1] - offsets[row]); }
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
  std::size_t fewest = 1, most = 1;  // words of a phrase, or characters of a run
  const Vocabulary* stop = nullptr;  // words to skip before phrases are made
  bool characters = false;  // runs of characters in place of words
  bool places = false;  // each word with its place in front of it: 1 for the first word of the document
};

class PhraseReader {
 public:
  explicit PhraseReader(const Phrases& options)
      : options_(options),
        tokeniser_(*options.table, options.shortest),
        runs_(*options.table, options.fewest, options.most) {
    if (options.fewest < 1 || options.most < options.fewest) throw std::invalid_argument("phrases: of no length");
  }

  // Whether the bytes of all phrases of a document are there until the next is read.
  bool keeps_bytes() const { return options_.characters || (options_.most > 1 && !options_.places); }

  template <class Each>
  void read(const Documents& documents, std::size_t row, Each&& each) {
    const std::uint8_t* const begin = documents.bytes + documents.offsets[row];
    const std::uint8_t* const end = documents.bytes + documents.offsets[row + 1];
    const auto kept = [&](const std::uint8_t* bytes, std::size_t length) {
      return options_.stop == nullptr || !options_.stop->contains(bytes, length);
    };
    if (options_.characters) {
      runs_.words(begin, end, each);
      return;
    }
    if (options_.places) {
      std::size_t place = 0;
      tokeniser_.words(begin, end, [&](const std::uint8_t* bytes, std::size_t length) {
        if (!kept(bytes, length)) return;
        const std::string number = std::to_string(++place) + " ";
        text_.assign(number.begin(), number.end());
        text_.insert(text_.end(), bytes, bytes + length);
        const std::size_t size = text_.size();
        text_.resize(size + Tokeniser::kSpare);
        each(text_.data(), size);
      });
      return;
    }
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
  CharacterRuns runs_;
  std::vector<std::uint8_t> text_;
  std::vector<std::size_t> starts_;
};

inline constexpr std::size_t kAhead = 8;  // words whose numbers are known before they are used

// The numbers of a document's words, in no certain order; unknown words are added to a vocabulary that may change, else
// left out. Short words are looked up many together, by when their places in the table have been fetched.
class WordNumbers {
 public:
  explicit WordNumbers(const Phrases& phrases) : reader_(phrases) {}

  template <class AVocabulary>
  std::span<const std::uint32_t> read(const Documents& documents, std::size_t row, AVocabulary& vocabulary) {
    std::size_t waiting = 0;
    count_ = 0;
    const bool keeps = reader_.keeps_bytes();
    const auto look_up = [&] {
      make_room(waiting);
      if (keeps)
        for (std::size_t i = 0; i < waiting; ++i)
          if (long_[i].second > Vocabulary::kShort) vocabulary.prefetch_letters(keys_[i]);
      for (std::size_t i = 0; i < waiting; ++i) {
        if (keeps) take(vocabulary, keys_[i], long_[i].first, long_[i].second);
        else take(vocabulary, keys_[i], nullptr, 0);
      }
      waiting = 0;
    };
    reader_.read(documents, row, [&](const std::uint8_t* bytes, std::size_t length) {
      const Vocabulary::Key key = vocabulary.key_of(bytes, length);
      if (length <= Vocabulary::kShort || keeps) {
        vocabulary.prefetch(key);
        if (keeps) long_[waiting] = {bytes, length};
        Vocabulary::Key& kept = keys_[waiting];  // part by part: a copy of the whole would wait for its parts
        kept.low = key.low;
        kept.high = key.high;
        kept.hash = key.hash;
        if (++waiting == kTogether) look_up();
      } else {
        make_room(1);
        take(vocabulary, key, bytes, length);
      }
    });
    look_up();
    return {numbers_.data(), count_};
  }

 private:
  static constexpr std::size_t kTogether = 128;

  void make_room(std::size_t count) {
    if (count_ + count > numbers_.size()) numbers_.resize(2 * (count_ + count));
  }
  void take(Vocabulary& vocabulary, const Vocabulary::Key& key, const std::uint8_t* bytes, std::size_t length) {
    numbers_[count_++] = vocabulary.add(key, bytes, length);
  }
  void take(const Vocabulary& vocabulary, const Vocabulary::Key& key, const std::uint8_t* bytes, std::size_t length) {
    numbers_[count_] = vocabulary.find(key, bytes, length);
    count_ += numbers_[count_] != Vocabulary::kNone ? 1 : 0;  // without a branch
  }

  PhraseReader reader_;
  std::array<Vocabulary::Key, kTogether> keys_;
  std::array<std::pair<const std::uint8_t*, std::size_t>, kTogether> long_;  // where the bytes of phrases are
  std::vector<std::uint32_t> numbers_;
  std::size_t count_ = 0;
};

// A vocabulary and, class by class, how often each word was used and in how many documents; batch after batch.
class WordCounts {
 public:
  // A word of a class: occurrences, and the documents that hold it.
  struct Entry {
    std::uint32_t word, label;
    std::int64_t words, documents;
  };

  // Rows without a class are skipped. The documents of one class are counted after those of another, so that
  // what is touched in between does not grow with the number of classes.
  void count(const Documents& documents, const std::int32_t* target, std::size_t classes, const Phrases& phrases) {
    if (documents.size() > std::numeric_limits<std::uint32_t>::max() - 1) throw std::length_error("too many documents");
    WordNumbers reader(phrases);
    std::vector<std::size_t> rows;
    for (Cell& cell : cells_) cell.last = 0;
    for (const std::size_t row : by_class(target, documents.size(), classes, rows)) {
      poll(32 + documents.bytes_of(row));
      const auto label = static_cast<std::uint32_t>(target[row]);
      if (label != label_) finish();  // the documents of one class may go on in the next batch
      label_ = label;
      const std::span<const std::uint32_t> found = reader.read(documents, row, vocabulary_);
      cells_.resize(vocabulary_.size());
      add(found, row);
    }
    if (entries_.size() > 2 * compact_ + kMany) compact();
  }

  // What another has counted is added to this.
  void merge(WordCounts& other) {
    if (&other == this) throw std::invalid_argument("merge: with itself");
    std::vector<std::uint32_t> place(other.vocabulary_.size());
    for (std::uint32_t number = 0; number < place.size(); ++number) place[number] = vocabulary_.add_word(other.vocabulary_.word(number));
    cells_.resize(vocabulary_.size());
    for (Entry entry : other.entries()) {
      entry.word = place[entry.word];
      entries_.push_back(entry);
    }
    if (entries_.size() > 2 * compact_ + kMany) compact();
  }

  // Keeps single words only: phrases contain a space. Returns the number of phrases dropped.
  std::size_t drop_phrases() {
    finish();
    compact();
    std::vector<std::uint32_t> place(vocabulary_.size(), Vocabulary::kNone);
    Vocabulary kept;
    for (std::uint32_t number = 0; number < place.size(); ++number) {
      const std::string_view word = vocabulary_.word(number);
      if (word.find(' ') == word.npos) place[number] = kept.add_word(word);
    }
    return keep(std::move(kept), place);
  }

  // Keeps the most frequent words, in case of a tie the first in order; returns the number dropped.
  std::size_t prune(std::size_t limit) {
    if (vocabulary_.size() <= limit) return 0;
    finish();
    compact();
    std::vector<std::int64_t> totals(vocabulary_.size(), 0);
    for (const Entry& entry : entries_) totals[entry.word] += entry.words;
    std::vector<std::uint32_t> order = vocabulary_.sorted();
    std::stable_sort(order.begin(), order.end(), [&](auto one, auto other) { return totals[one] > totals[other]; });
    std::vector<std::uint32_t> place(vocabulary_.size(), Vocabulary::kNone);
    Vocabulary kept;
    for (std::size_t i = 0; i < limit; ++i) place[order[i]] = kept.add_word(vocabulary_.word(order[i]));
    return keep(std::move(kept), place);
  }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  // A word of a class may have several entries, which are to be added up.
  const std::vector<Entry>& entries() {
    finish();
    return entries_;
  }

 private:
  static constexpr std::size_t kMany = 1 << 20;

  struct Cell {
    std::int64_t words = 0;
    std::uint32_t documents = 0;
    std::uint32_t last = 0;  // the document, from 1, in which the word was seen last
  };

  // Goes on with these words, whose new numbers `place` has; how many were dropped.
  std::size_t keep(Vocabulary kept, const std::vector<std::uint32_t>& place) {
    std::vector<Entry> left;
    for (Entry entry : entries_) {
      entry.word = place[entry.word];
      if (entry.word != Vocabulary::kNone) left.push_back(entry);
    }
    const std::size_t dropped = vocabulary_.size() - kept.size();
    vocabulary_ = std::move(kept);
    entries_ = std::move(left);
    compact_ = entries_.size();
    cells_.assign(vocabulary_.size(), Cell{});
    return dropped;
  }

  // The rows that have a class, those of one class together.
  static const std::vector<std::size_t>& by_class(const std::int32_t* target, std::size_t size, std::size_t classes,
                                                  std::vector<std::size_t>& rows) {
    std::vector<std::size_t> place(classes + 1, 0);
    const auto has_class = [&](std::size_t row) {
      return target[row] >= 0 && static_cast<std::size_t>(target[row]) < classes;
    };
    for (std::size_t row = 0; row < size; ++row)
      if (has_class(row)) ++place[static_cast<std::size_t>(target[row]) + 1];
    for (std::size_t label = 0; label < classes; ++label) place[label + 1] += place[label];
    rows.resize(place[classes]);
    for (std::size_t row = 0; row < size; ++row)
      if (has_class(row)) rows[place[static_cast<std::size_t>(target[row])]++] = row;
    return rows;
  }

  // The words of one document, whose counts lie far apart, so that the next ones are asked for ahead.
  void add(std::span<const std::uint32_t> found, std::size_t row) {
    const auto document = static_cast<std::uint32_t>(row + 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i + kAhead < found.size()) __builtin_prefetch(&cells_[found[i + kAhead]], 1);
      Cell& cell = cells_[found[i]];
      if (cell.words++ == 0) touched_.push_back(found[i]);
      cell.documents += cell.last != document ? 1 : 0;  // without a branch, which would be guessed wrong half the time
      cell.last = document;
    }
  }

  // Stores the complete counts of a class, and frees the cells for the next.
  void finish() {
    for (const std::uint32_t word : touched_) {
      Cell& cell = cells_[word];
      entries_.push_back({word, label_, cell.words, cell.documents});
      cell.words = 0;
      cell.documents = 0;
    }
    touched_.clear();
  }

  // One entry for each word of a class.
  void compact() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& one, const Entry& other) {
      return one.label != other.label ? one.label < other.label : one.word < other.word;
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (kept > 0 && entries_[kept - 1].label == entries_[i].label && entries_[kept - 1].word == entries_[i].word) {
        entries_[kept - 1].words += entries_[i].words;
        entries_[kept - 1].documents += entries_[i].documents;
      } else {
        entries_[kept++] = entries_[i];
      }
    }
    entries_.resize(kept);
    compact_ = kept;
  }

  std::uint32_t label_ = 0;
  Vocabulary vocabulary_;
  std::vector<Cell> cells_;  // of the class that is counted now
  std::vector<std::uint32_t> touched_;
  std::vector<Entry> entries_;
  std::size_t compact_ = 0;  // how many entries there were when each was the only one of its word and class
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
    poll(32 + documents.bytes_of(row));
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
    const std::span<const std::uint32_t> found = reader.read(documents, row, vocabulary);
    poll(32 + documents.bytes_of(row));
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
