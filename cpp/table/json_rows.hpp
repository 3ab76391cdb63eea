// Rows of JSON answered as JSON: a body such as {"rows": [{"age": 34, "car": "van"}], "proba": true} is read straight into the
// buffers of a scorer, and the answers are written from its posteriors. No object is made on the way.
//
// It handles plain bodies only: known columns and levels, each column once per row, texts without escapes. Everything
// else is left to the normal path, which has the errors and notes.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_cursor.hpp"
#include "table/flag_text.hpp"
#include "table/scorer.hpp"

namespace bayesbox {

// How the answers are written: the label of each class as JSON, and its text with a colon, the key of its probability.
struct JsonLabels {
  std::vector<std::string> labels, keys;
};

struct JsonAnswers {
  std::string text;                  // the answers, with commas between them
  std::size_t rows = 0;
  std::vector<std::int64_t> counts;  // of rows by the most probable class, the first in case of a tie
};

class JsonRows {
 public:
  // `names` are those of the scorer's inputs; `skipped` and `numbers` columns that may be there and are not used: of any
  // value, or of numbers.
  JsonRows(const Scorer& scorer, const std::vector<std::string>& names, const std::vector<std::string>& skipped,
           const std::vector<std::string>& numbers)
      : scorer_(scorer), names_(names), used_(names.size()), first_number_(names.size() + skipped.size()) {
    names_.insert(names_.end(), skipped.begin(), skipped.end());
    names_.insert(names_.end(), numbers.begin(), numbers.end());
    for (const std::string& name : names_)
      if (std::any_of(name.begin(), name.end(), [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }))
        plain_ = false;  // it stands in JSON with escapes
  }

  // The answers to a body; nothing if it is not plain, or has more than this many rows.
  std::optional<JsonAnswers> answer(std::string_view body, const JsonLabels& labels, std::size_t most) const {
    if (!plain_) return std::nullopt;
    Reading state{JsonCursor(body), Scorer::Lease(scorer_), {}, {}, std::vector<std::size_t>(names_.size(), 0), 0};
    state.order.reserve(names_.size());
    bool has_rows = false, has_proba = false, has_explain = false, proba = true;
    JsonCursor& cursor = state.cursor;
    if (!cursor.take('{')) return std::nullopt;
    do {
      cursor.peek();
      if (!has_rows && cursor.take_text("rows")) {
        has_rows = true;
        if (!cursor.take(':') || !read_rows(state, most)) return std::nullopt;
      } else if (!has_proba && cursor.take_text("proba")) {
        has_proba = true;
        if (!cursor.take(':')) return std::nullopt;
        cursor.peek();
        proba = cursor.take_word("true");
        if (!proba && !cursor.take_word("false")) return std::nullopt;
      } else if (!has_explain && cursor.take_text("explain")) {
        has_explain = true;
        JsonNumber number;
        if (!cursor.take(':')) return std::nullopt;
        cursor.peek();
        if (!cursor.number(number) || !number.whole || number.integer != 0) return std::nullopt;
      } else {
        return std::nullopt;
      }
    } while (cursor.take(','));
    if (!cursor.take('}') || !cursor.is_done() || !has_rows) return std::nullopt;
    return written(state, labels, proba);
  }

 private:
  // `order` are the columns of the row before, by which those of the next are guessed; `seen` the last row of each, from 1.
  struct Reading {
    JsonCursor cursor;
    Scorer::Lease space;
    std::vector<double> shares;
    std::vector<std::size_t> order;
    std::vector<std::size_t> seen;
    std::size_t rows;
  };

  bool read_rows(Reading& state, std::size_t most) const {
    JsonCursor& cursor = state.cursor;
    if (!cursor.take('[')) return false;
    std::size_t waiting = 0;
    if (cursor.peek() != ']') {
      do {
        if (state.rows == most || !read_row(state, waiting)) return false;
        ++state.rows;
        if (++waiting == ScorerWorkspace::kRows) {
          if (!score(state, waiting)) return false;
          waiting = 0;
        }
      } while (cursor.take(','));
    }
    return cursor.take(']') && (waiting == 0 || score(state, waiting));
  }

  bool score(Reading& state, std::size_t rows) const {
    const std::size_t before = state.shares.size();
    state.shares.resize(before + rows * scorer_.classes());
    return state.space->answer(rows, false, state.shares.data() + before);
  }

  bool read_row(Reading& state, std::size_t place) const {
    JsonCursor& cursor = state.cursor;
    if (!cursor.take('{')) return false;
    const std::size_t stamp = state.rows + 1;
    std::size_t position = 0, found = 0;
    if (cursor.peek() != '}') {
      do {
        cursor.peek();
        const std::optional<std::size_t> column = next_column(state, position++);
        if (!column || state.seen[*column] == stamp || !cursor.take(':')) return false;
        state.seen[*column] = stamp;
        cursor.peek();
        if (*column >= used_) {
          if (!skip(cursor, *column >= first_number_)) return false;
          continue;
        }
        ++found;
        if (!read_value(cursor, *column, state.space, place)) return false;
      } while (cursor.take(','));
    }
    if (!cursor.take('}')) return false;
    if (found == 0 && position > 0) return false;  // none of its columns is used, which is worth an error
    if (found < used_)
      for (std::size_t j = 0; j < used_; ++j)
        if (state.seen[j] != stamp) state.space->set_missing(j, place);
    return true;
  }

  // The column whose name is next: that of this position in the row before, or one that is looked for.
  std::optional<std::size_t> next_column(Reading& state, std::size_t position) const {
    const bool guessed = position < state.order.size();
    if (guessed && state.cursor.take_text(names_[state.order[position]])) return state.order[position];
    for (std::size_t j = 0; j < names_.size(); ++j)
      if (state.cursor.take_text(names_[j])) {
        if (guessed)
          state.order[position] = j;
        else
          state.order.push_back(j);
        return j;
      }
    return std::nullopt;
  }

  // A value that is not used: a scalar, in plain ASCII where it is a text.
  static bool skip(JsonCursor& cursor, bool is_number) {
    std::string_view text;
    JsonNumber number;
    if (is_number) return cursor.peek() == 'n' ? cursor.take_word("null") : cursor.number(number);
    switch (cursor.peek()) {
      case '"': return cursor.text(text) && std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
      case 't': return cursor.take_word("true");
      case 'f': return cursor.take_word("false");
      case 'n': return cursor.take_word("null");
      default: return cursor.number(number);
    }
  }

  bool read_value(JsonCursor& cursor, std::size_t j, const Scorer::Lease& space, std::size_t place) const {
    const ScorerInput& input = scorer_.inputs()[j];
    const bool is_number = input.kind == InputKind::number || input.kind == InputKind::bins;
    std::string_view text;
    JsonNumber number;
    std::int32_t code = LevelIndex::kNone;
    switch (cursor.peek()) {
      case '"':
        if (is_number || !cursor.text(text)) return false;
        code = input.kind == InputKind::flag ? flag_of_text(text).value_or(LevelIndex::kNone) : input.levels.find(text);
        break;
      case 't':
        if (input.kind != InputKind::flag || !cursor.take_word("true")) return false;
        code = 1;
        break;
      case 'f':
        if (input.kind != InputKind::flag || !cursor.take_word("false")) return false;
        code = 0;
        break;
      case 'n':
        if (!cursor.take_word("null")) return false;
        space->set_missing(j, place);
        return true;
      default:
        if (!cursor.number(number)) return false;
        if (is_number) {
          space->set_number(j, place, number.value);
          return true;
        }
        code = input.kind == InputKind::flag ? flag_code(number) : level_code(input, number);
    }
    if (code == LevelIndex::kNone) return false;
    space->set_code(j, place, code);
    return true;
  }

  static std::int32_t flag_code(const JsonNumber& number) {
    return number.value == 0 ? 0 : number.value == 1 ? 1 : LevelIndex::kNone;
  }

  // A whole number is the level of its decimal digits; the texts of others are known elsewhere.
  static std::int32_t level_code(const ScorerInput& input, const JsonNumber& number) {
    std::int64_t whole = number.integer;
    if (!number.whole) {
      if (!(std::fabs(number.value) < 0x1p53) || number.value != std::floor(number.value)) return LevelIndex::kNone;
      whole = static_cast<std::int64_t>(number.value);
    }
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, whole);
    return input.levels.find({digits, static_cast<std::size_t>(end.ptr - digits)});
  }

  JsonAnswers written(const Reading& state, const JsonLabels& labels, bool proba) const {
    const std::size_t classes = scorer_.classes();
    JsonAnswers found;
    found.rows = state.rows;
    found.counts.assign(classes, 0);
    std::size_t row_size = 32;
    for (std::size_t c = 0; c < classes; ++c) row_size += labels.keys[c].size() + 22;
    found.text.reserve(state.rows * (proba ? row_size : 32));
    for (std::size_t i = 0; i < state.rows; ++i) {
      const double* shares = state.shares.data() + i * classes;
      const auto best = static_cast<std::size_t>(std::max_element(shares, shares + classes) - shares);
      ++found.counts[best];
      found.text += i == 0 ? "{\"class\":" : ",{\"class\":";
      found.text += labels.labels[best];
      if (proba) {
        found.text += ",\"proba\":{";
        for (std::size_t c = 0; c < classes; ++c) {
          if (c > 0) found.text.push_back(',');
          found.text += labels.keys[c];
          append_json_number(found.text, shares[c]);
        }
        found.text.push_back('}');
      }
      found.text.push_back('}');
    }
    return found;
  }

  const Scorer& scorer_;
  std::vector<std::string> names_;
  std::size_t used_, first_number_;
  bool plain_ = true;
};

}  // namespace bayesbox
