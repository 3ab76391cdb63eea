#include "text/words.hpp"

#include <cmath>
#include <map>
#include <string>

#include "test.hpp"
#include "text/log_shares.hpp"
#include "text/ranked_texts.hpp"

namespace bayesbox::test {
namespace {

WordTable latin() {
  std::vector<std::uint32_t> lower(kCodePoints, 0);
  for (std::uint32_t c = 'a'; c <= 'z'; ++c) lower[c] = lower[c - 32] = c;
  for (std::uint32_t c = '0'; c <= '9'; ++c) lower[c] = c;
  lower[0xC4] = lower[0xE4] = 0xE4;  // a with two dots
  lower[0x4E2D] = 0x4E2D;
  lower[0x10400] = 0x10428;
  lower[0x130] = 'i' | WordTable::kEndsWord;
  return WordTable(std::move(lower));
}

std::vector<std::string> words_of(const std::string& text, std::size_t fewest = 1, std::size_t most = 1) {
  static const WordTable table = latin();
  PhraseReader reader({&table, 2, fewest, most, nullptr});
  const Documents one{reinterpret_cast<const std::uint8_t*>(text.data()), {0, static_cast<std::int64_t>(text.size())}};
  std::vector<std::string> found;
  reader.read(one, 0, [&](const std::uint8_t* bytes, std::size_t length) {
    found.emplace_back(reinterpret_cast<const char*>(bytes), length);
  });
  return found;
}

using Texts = std::vector<std::string>;

TEST(words_of_a_text) {
  CHECK(words_of("Kiwi, a SHEEP") == (Texts{"kiwi", "sheep"}));
  CHECK(words_of("") == Texts{});
  CHECK(words_of(std::string("ab\0cd", 5)) == (Texts{"ab", "cd"}));
  CHECK(words_of("\xC3\x84" "rger") == Texts{"\xC3\xA4" "rger"});
  CHECK(words_of("\xF0\x90\x90\x80x \xE4\xB8\xAD\xE4\xB8\xAD") == (Texts{"\xF0\x90\x90\xA8x", "\xE4\xB8\xAD\xE4\xB8\xAD"}));
  CHECK(words_of("xx\xC4\xB0yy") == (Texts{"xxi", "yy"}));
  CHECK(words_of("aa bb cc", 1, 2) == (Texts{"aa", "bb", "cc", "aa bb", "bb cc"}));
  CHECK(words_of("aa bb", 3, 3) == Texts{});
  CHECK(words_of(std::string(100000, 'X')) == Texts{std::string(100000, 'x')});
}

TEST(punctuation_marks_are_words_by_themselves) {
  std::vector<std::uint32_t> lower(kCodePoints, 0);
  for (std::uint32_t c = 'a'; c <= 'z'; ++c) lower[c] = c;
  lower['!'] = '!' | WordTable::kAlone;
  lower[0] = WordTable::kAlone;
  lower[0x2014] = 0x2014 | WordTable::kAlone;  // a dash
  lower[WordTable::kDot] = WordTable::kDot | WordTable::kAlone;
  lower[0x130] = 'i' | WordTable::kEndsWord;
  const WordTable table(std::move(lower));
  Tokeniser tokeniser(table, 1);
  const std::string text = std::string("ab!!\xE2\x80\x94" "c\xC4\xB0") + std::string(1, '\0') + std::string(600, 'x');
  Texts found;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  tokeniser.words(bytes, bytes + text.size(), [&](const std::uint8_t* word, std::size_t length) {
    found.emplace_back(reinterpret_cast<const char*>(word), length);
  });
  CHECK(found == (Texts{"ab", "!", "!", "\xE2\x80\x94", "ci", "\xCC\x87", std::string(1, '\0'), std::string(600, 'x')}));
}

TEST(runs_of_characters) {
  std::vector<std::uint32_t> lower(kCodePoints, 0);
  for (std::uint32_t c = 'a'; c <= 'z'; ++c) lower[c] = lower[c - 32] = c;
  const WordTable table(std::move(lower));
  const auto runs = [&](const std::string& text, std::size_t fewest, std::size_t most) {
    CharacterRuns reader(table, fewest, most);
    Texts found;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    reader.words(bytes, bytes + text.size(), [&](const std::uint8_t* word, std::size_t length) {
      found.emplace_back(reinterpret_cast<const char*>(word), length);
    });
    return found;
  };
  CHECK(runs("Ab \n c", 2, 3) == (Texts{"ab", "b ", " c", "ab ", "b c"}));
  CHECK(runs("a\nb", 3, 9) == Texts{"a\nb"});
  CHECK(runs("", 1, 2) == Texts{});
  CHECK(runs("\xFF" "a", 1, 1) == (Texts{" ", "a"}));
}

TEST(broken_bytes_are_separators) {
  for (const char* broken : {"\xFF", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE4\xB8", "\xF0\x90\x90", "\x80"})
    CHECK(words_of("ab" + std::string(broken) + "cd") == (Texts{"ab", "cd"}));
  for (std::string text : {"ab\xC3", "ab\xE4\xB8", "ab\xF0\x90\x90"}) CHECK(words_of(text) == Texts{"ab"});
}

TEST(words_are_counted_by_class) {
  std::mt19937_64 random(9);
  static const WordTable table = latin();
  std::string text;
  Documents documents{nullptr, {0}};
  std::vector<std::int32_t> labels = random_labels(random, 500, -1, 2);
  std::map<std::string, std::vector<std::int64_t>> words, holders;
  for (const std::int32_t label : labels) {
    std::map<std::string, int> own;
    for (std::size_t k = random() % 30; k-- > 0;) {
      std::string word(2 + random() % 14, 'a');
      word.back() = static_cast<char>('a' + random() % 20);
      text += word + " ";
      ++own[word];
    }
    documents.offsets.push_back(static_cast<std::int64_t>(text.size()));
    if (label != 0 && label != 1) continue;
    for (const auto& [word, count] : own) {
      words.try_emplace(word, 2).first->second[static_cast<std::size_t>(label)] += count;
      holders.try_emplace(word, 2).first->second[static_cast<std::size_t>(label)] += 1;
    }
  }
  documents.bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  documents.check(text.size());
  const Phrases phrases{&table};
  WordCounts counts;
  counts.count(documents, labels.data(), 2, phrases);
  const std::vector<std::uint32_t> order = counts.vocabulary().sorted();
  CHECK(order.size() == words.size());
  std::size_t at = 0, cells = 0;
  for (const auto& [word, expected] : words) {
    CHECK(counts.vocabulary().word(order[at++]) == word);
    for (std::size_t label = 0; label < 2; ++label) cells += expected[label] != 0;
  }
  CHECK(counts.entries().size() == cells);
  for (const WordCounts::Entry& entry : counts.entries()) {
    const std::string word(counts.vocabulary().word(entry.word));
    CHECK(entry.words == words[word][entry.label]);
    CHECK(entry.documents == holders[word][entry.label]);
  }
  const Terms terms = list_terms(documents, counts.vocabulary(), phrases);
  std::vector<double> scores(labels.size()), ones(counts.vocabulary().size(), 1.0);
  std::vector<std::int64_t> known(labels.size());
  for (const bool once : {false, true}) {
    std::fill(scores.begin(), scores.end(), 0.0);
    add_weights(documents, counts.vocabulary(), phrases, ones.data(), 1, once, scores.data(), known.data());
    for (std::size_t row = 0; row < labels.size(); ++row) {
      std::int64_t expected = 0;
      for (auto entry = terms.starts[row]; entry < terms.starts[row + 1]; ++entry)
        expected += once ? 1 : terms.counts[static_cast<std::size_t>(entry)];
      CHECK(known[row] == expected);
      CHECK(scores[row] == static_cast<double>(expected));
    }
  }
}

TEST(bad_documents_are_refused) {
  for (const std::vector<std::int64_t>& offsets : {std::vector<std::int64_t>{}, {-1, 2}, {0, 3, 2}, {0, 5}}) {
    const Documents documents{nullptr, offsets};
    CHECK_THROWS(documents.check(4), std::invalid_argument);
  }
}

std::map<std::string, std::int64_t> totals_of(WordCounts& counts) {
  std::map<std::string, std::int64_t> totals;
  for (const WordCounts::Entry& entry : counts.entries())
    totals[std::string(counts.vocabulary().word(entry.word)) + "/" + std::to_string(entry.label)] += entry.words;
  return totals;
}

TEST(batches_merge_and_the_rarest_words_go) {
  static const WordTable table = latin();
  const Phrases phrases{&table};
  const auto add = [&](WordCounts& counts, const std::string& text, std::int32_t label) {
    const Documents one{reinterpret_cast<const std::uint8_t*>(text.data()), {0, static_cast<std::int64_t>(text.size())}};
    counts.count(one, &label, 2, phrases);
  };
  WordCounts one, other;
  add(one, "kiwi kiwi sheep", 0);
  add(one, "kiwi anextremelylongword", 1);
  add(other, "sheep anextremelylongword bird", 0);
  one.merge(other);
  CHECK((totals_of(one) == std::map<std::string, std::int64_t>{
      {"kiwi/0", 2}, {"kiwi/1", 1}, {"sheep/0", 2}, {"anextremelylongword/0", 1}, {"anextremelylongword/1", 1}, {"bird/0", 1}}));
  CHECK(one.prune(4) == 0);
  CHECK(one.prune(2) == 2);  // of the two that occurred twice the first in order stays
  CHECK((totals_of(one) == std::map<std::string, std::int64_t>{
      {"kiwi/0", 2}, {"kiwi/1", 1}, {"anextremelylongword/0", 1}, {"anextremelylongword/1", 1}}));
  add(one, "bird bird kiwi", 1);
  CHECK(totals_of(one)["bird/1"] == 2 && totals_of(one)["kiwi/1"] == 2);
}

TEST(documents_of_a_class_go_on_in_the_next_batch) {
  static const WordTable table = latin();
  const Phrases phrases{&table};
  WordCounts counts;
  const std::string text = "kiwi kiwi sheepkiwi sheepsheep";
  const std::vector<std::int32_t> labels = {0, 0, 1};
  for (int batch = 0; batch < 2; ++batch)
    counts.count({reinterpret_cast<const std::uint8_t*>(text.data()), {0, 15, 25, 30}}, labels.data(), 2, phrases);
  std::map<std::string, std::int64_t> holders;
  for (const WordCounts::Entry& entry : counts.entries())
    holders[std::string(counts.vocabulary().word(entry.word)) + "/" + std::to_string(entry.label)] += entry.documents;
  CHECK((holders == std::map<std::string, std::int64_t>{{"kiwi/0", 4}, {"sheep/0", 4}, {"sheep/1", 2}}));
}

TEST(many_words_are_added_as_one_by_one) {
  std::mt19937_64 random(5);
  std::vector<std::string> words;
  for (const std::size_t size : {5000, 20000}) {  // few are sorted at once, more by their beginnings first
    while (words.size() < size) {
      std::string word(1 + random() % 40, 'a');
      for (char& letter : word) letter = static_cast<char>('a' + random() % 3);
      words.push_back(word);
    }
    Vocabulary one, many;
    for (const std::string& word : words) one.add_word(word);
    const std::vector<std::uint32_t> given = many.add_words(std::vector<std::string_view>(words.begin(), words.end()), words.size());
    for (std::size_t k = 0; k < words.size(); ++k) CHECK(many.word(given[k]) == words[k]);
    CHECK(one.size() == many.size());
    for (std::uint32_t number = 0; number < one.size(); ++number) CHECK(one.word(number) == many.word(number));
    const std::vector<std::uint32_t> order = many.sorted();
    for (std::size_t i = 1; i < order.size(); ++i) CHECK(many.word(order[i - 1]) < many.word(order[i]));
  }
}

TEST(texts_are_ranked_by_their_bytes) {
  const std::string text = "kiwi" "" "sheep" "kiwi" "\xC3\xA9t\xC3\xA9" "a word that is longer than eleven bytes" "kiwis" "";
  const Documents texts{reinterpret_cast<const std::uint8_t*>(text.data()), {0, 4, 4, 9, 13, 18, 57, 62, 62}};
  const RankedTexts ranked = rank_texts(texts);
  CHECK((ranked.ranks == std::vector<std::int64_t>{2, 0, 4, 2, 5, 1, 3, 0}));
  CHECK((ranked.ends == std::vector<std::int64_t>{0, 0, 39, 43, 48, 53, 58}));
  CHECK(std::string(ranked.letters.begin() + 39, ranked.letters.begin() + 48) == "kiwikiwis");
  CHECK(rank_texts({nullptr, {0}}).ends.size() == 1);
}

TEST(a_pair_of_bytes_is_found_wherever_it_is) {
  std::vector<std::uint8_t> bytes(3000, 7);
  CHECK(!holds_pair(bytes.data(), bytes.size(), 1, 2) && !holds_pair(bytes.data(), 0, 7, 7) && !holds_pair(bytes.data(), 1, 7, 7));
  for (const std::size_t at : {0, 1, 1022, 1023, 1024, 2998}) {
    bytes[at] = 1;
    bytes[at + 1] = 2;
    CHECK(holds_pair(bytes.data(), bytes.size(), 1, 2));
    CHECK(!holds_pair(bytes.data(), at + 1, 1, 2) && !holds_pair(bytes.data(), bytes.size(), 2, 1));
    bytes[at] = bytes[at + 1] = 7;
  }
}

TEST(logs_of_shares_are_those_of_each_count) {
  const std::vector<double> counts = {0.0, 1.0, 3.0, 1.0, 2.5, 1.0}, totals = {4.0, 4.5};
  std::vector<double> shares(6);
  log_shares(counts.data(), totals.data(), 2, 3, shares.data());
  for (std::size_t level = 0; level < 3; ++level)
    for (std::size_t label = 0; label < 2; ++label)
      CHECK(shares[2 * level + label] == portable::log(counts[3 * label + level]) - portable::log(totals[label]));
}

TEST(words_with_their_places) {
  static const WordTable table = latin();
  PhraseReader reader({&table, 2, 1, 1, nullptr, false, true});
  const std::string text = "Kiwi, a sheep kiwi";
  const Documents one{reinterpret_cast<const std::uint8_t*>(text.data()), {0, static_cast<std::int64_t>(text.size())}};
  Texts found;
  reader.read(one, 0, [&](const std::uint8_t* bytes, std::size_t length) {
    found.emplace_back(reinterpret_cast<const char*>(bytes), length);
  });
  CHECK(found == (Texts{"1 kiwi", "2 sheep", "3 kiwi"}));
}

}  // namespace
}  // namespace bayesbox::test
