// Reads a Bayesian network in the Bayesian Interchange Format (BIF 0.15).
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/decimal.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

// An error in a text, and its byte position.
struct TextFault : std::runtime_error {
  TextFault(const std::string& what, std::size_t at, std::string_view found_there, std::string advice = "")
      : std::runtime_error(what), offset(at), found(found_there), remedy(std::move(advice)) {}
  std::size_t offset;
  std::string found;
  std::string remedy;
};

// Names are views into the text that was read.
struct BifVariable {
  std::string_view name;
  std::vector<std::string_view> states;
  std::unordered_map<std::string_view, std::int32_t> place;  // of each state, where there are many
  std::vector<std::int32_t> parents;
  std::vector<double> table;  // a row for each combination of the parents' states, the last parent fastest
  std::size_t offset = 0;
  bool has_table = false;

  static constexpr std::size_t kFew = 8;  // states; with more, a hash table is faster than comparing

  // The position of a state; -1 if there is none of this name.
  std::int32_t find(std::string_view state) const {
    if (states.size() > kFew) {
      const auto found = place.find(state);
      return found == place.end() ? -1 : found->second;
    }
    for (std::size_t k = 0; k < states.size(); ++k)
      if (states[k] == state) return static_cast<std::int32_t>(k);
    return -1;
  }
  // False if there is already one of this name.
  bool add(std::string_view state) {
    if (find(state) >= 0) return false;
    states.push_back(state);
    if (states.size() == kFew + 1)
      for (std::size_t k = 0; k < kFew; ++k) place.emplace(states[k], static_cast<std::int32_t>(k));
    if (states.size() > kFew) place.emplace(state, static_cast<std::int32_t>(states.size() - 1));
    return true;
  }
};

struct BifFile {
  std::string_view name;
  std::vector<BifVariable> variables;

  // Whether there is a cycle: variables without remaining parents are removed until none is left.
  bool has_cycle() const {
    std::vector<std::size_t> waiting(variables.size());
    std::vector<std::vector<std::size_t>> children(variables.size());
    std::vector<std::size_t> ready;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      waiting[v] = variables[v].parents.size();
      for (const std::int32_t parent : variables[v].parents) children[static_cast<std::size_t>(parent)].push_back(v);
      if (waiting[v] == 0) ready.push_back(v);
    }
    for (std::size_t done = 0; done < ready.size(); ++done)
      for (const std::size_t child : children[ready[done]])
        if (--waiting[child] == 0) ready.push_back(child);
    return ready.size() < variables.size();
  }
};

struct BifLimits {
  std::size_t nodes;
  std::size_t cells;
  double tolerance;  // the tolerance of the sum of a row
  bool normalize;
};

class BifReader {
 public:
  BifReader(std::string_view text, const BifLimits& limits) : text_(text), limits_(limits) { next(); }

  BifFile read() {
    while (!token_.empty()) {
      if (token_ == "network") {
        network();
      } else if (token_ == "variable") {
        variable();
      } else if (token_ == "probability") {
        probability();
      } else {
        fail("expected `network`, `variable` or `probability`");
      }
    }
    if (file_.variables.empty()) fail("the file has no variable");
    for (const BifVariable& each : file_.variables)
      if (!each.has_table) throw TextFault("variable `" + std::string(each.name) + "` has no probabilities", each.offset, each.name);
    return std::move(file_);
  }

 private:
  enum class Kind : char { word, space, mark };
  static constexpr std::array<Kind, 256> kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (const char c : std::string_view(" \n\t\r\f\v")) kinds[static_cast<unsigned char>(c)] = Kind::space;
    for (const char c : std::string_view("{}()[],;|\"")) kinds[static_cast<unsigned char>(c)] = Kind::mark;
    return kinds;
  }();

  static bool is_space(char c) { return kKinds[static_cast<unsigned char>(c)] == Kind::space; }
  static bool is_mark(char c) { return kKinds[static_cast<unsigned char>(c)] == Kind::mark; }
  static bool is_word(char c) { return kKinds[static_cast<unsigned char>(c)] == Kind::word; }

  // The next token: a mark, a word, or a quoted text (without its quotes).
  void next() {
    poll(4);
    skip_space();
    start_ = at_;
    quoted_ = false;
    if (at_ == text_.size()) {
      token_ = {};
      return;
    }
    if (text_[at_] == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) throw TextFault("a quote that is not closed", at_, text_.substr(at_, 20));
      token_ = text_.substr(at_ + 1, end - at_ - 1);
      quoted_ = true;
      at_ = end + 1;
      return;
    }
    if (is_mark(text_[at_])) {
      token_ = text_.substr(at_++, 1);
      return;
    }
    while (at_ < text_.size() && is_word(text_[at_]) && !begins_comment()) ++at_;
    token_ = text_.substr(start_, at_ - start_);
  }
  bool begins_comment() const {
    return text_[at_] == '/' && at_ + 1 < text_.size() && (text_[at_ + 1] == '/' || text_[at_ + 1] == '*');
  }
  void skip_space() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        ++at_;
      } else if (text_[at_] != '/') {
        break;
      } else if (text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.compare(at_, 2, "/*") == 0) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) throw TextFault("a comment that is not closed", at_, "/*");
        at_ = end + 2;
      } else {
        break;
      }
    }
  }
  [[noreturn]] void fail(const std::string& what, std::string remedy = "") const {
    throw TextFault(what, start_, token_.empty() && !quoted_ ? std::string_view("the end") : token_, std::move(remedy));
  }
  bool sees(const char* mark) const { return !quoted_ && token_.size() == 1 && token_[0] == *mark; }
  void take(const char* mark) {
    if (!sees(mark)) fail(std::string("expected `") + mark + "`");
    next();
  }
  bool took(const char* mark) {
    if (!sees(mark)) return false;
    next();
    return true;
  }
  std::string_view word(const char* what) {
    if (!quoted_ && (token_.empty() || is_mark(token_[0]))) fail(std::string("expected ") + what);
    if (token_.empty()) fail(std::string("an empty text where ") + what + " should be");
    const std::string_view found = token_;
    next();
    return found;
  }
  void property() {  // free text up to the semicolon
    while (!sees(";")) {
      if (token_.empty() && !quoted_) fail("expected `;`");
      next();
    }
    next();
  }

  void network() {
    next();
    if (!sees("{")) file_.name = word("the name of the network");
    take("{");
    while (!took("}")) {
      if (token_ != "property") fail("expected `property` or `}`");
      property();
    }
  }

  void variable() {
    next();
    BifVariable found;
    found.offset = start_;
    const std::string_view name = word("the name of a variable");
    found.name = name;
    if (!places_.emplace(name, static_cast<std::int32_t>(file_.variables.size())).second)
      throw TextFault("variable `" + std::string(found.name) + "` is declared twice", found.offset, name);
    if (file_.variables.size() == limits_.nodes)
      throw TextFault("more than " + std::to_string(limits_.nodes) + " variables", found.offset, name);
    take("{");
    while (!took("}")) {
      if (token_ == "property") {
        property();
      } else if (token_ == "type") {
        if (!found.states.empty()) fail("a second type of the same variable");
        type(found);
      } else {
        fail("expected `type`, `property` or `}`");
      }
    }
    if (found.states.empty()) throw TextFault("variable `" + std::string(found.name) + "` has no type", found.offset, name);
    file_.variables.push_back(std::move(found));
  }

  void type(BifVariable& found) {
    next();
    if (token_ != "discrete") fail("expected `discrete`", "Other variables have no table");
    next();
    std::size_t declared = 0;
    std::size_t declared_at = 0;
    const bool counted = took("[");
    if (counted) {
      declared_at = start_;
      const auto [end, error] = std::from_chars(token_.data(), token_.data() + token_.size(), declared);
      if (error != std::errc() || end != token_.data() + token_.size()) fail("expected the number of states");
      next();
      take("]");
    }
    take("{");
    while (!took("}")) {
      const std::size_t at = start_;
      const std::string_view state = word("a state");
      if (!found.add(state))
        throw TextFault("a state that variable `" + std::string(found.name) + "` has already", at, state);
      if (!sees("}")) took(",");
    }
    if (found.states.empty()) fail("a variable without a state");
    if (counted && declared != found.states.size())
      throw TextFault("variable `" + std::string(found.name) + "` declares " + std::to_string(declared) + " states, but lists " +
                          std::to_string(found.states.size()),
                      declared_at, std::to_string(declared));
    take(";");
  }

  std::int32_t known_variable() {
    const std::size_t at = start_;
    const std::string_view name = word("the name of a variable");
    const auto found = places_.find(name);
    if (found == places_.end()) throw TextFault("no variable of this name was declared before", at, name);
    return found->second;
  }

  void probability() {
    next();
    take("(");
    const std::size_t at = start_;
    const std::int32_t child = known_variable();
    BifVariable& node = file_.variables[static_cast<std::size_t>(child)];
    if (node.has_table) throw TextFault("a second table of variable `" + std::string(node.name) + "`", at, node.name);
    node.has_table = true;
    if (!took("|")) took(",");
    std::size_t rows = 1;
    while (!took(")")) {
      const std::size_t parent_at = start_;
      const std::int32_t parent = known_variable();
      const BifVariable& other = file_.variables[static_cast<std::size_t>(parent)];
      if (parent == child || std::find(node.parents.begin(), node.parents.end(), parent) != node.parents.end())
        throw TextFault("a parent that `" + std::string(node.name) + "` has already, or is itself", parent_at, other.name);
      node.parents.push_back(parent);
      if (rows > limits_.cells / other.states.size()) too_many_cells(at, node);
      rows *= other.states.size();
      if (!sees(")")) took(",");
    }
    const std::size_t states = node.states.size();
    if (rows > (limits_.cells - cells_) / states) too_many_cells(at, node);
    cells_ += rows * states;
    node.table.assign(rows * states, std::numeric_limits<double>::quiet_NaN());
    take("{");
    std::vector<double> fallback;
    while (!took("}")) {
      if (token_ == "property") {
        property();
      } else if (token_ == "table") {
        table(node, rows);
      } else if (token_ == "default") {
        const std::size_t row_at = start_;
        next();
        fallback.resize(states);
        numbers(fallback.data(), states);
        check_row(fallback.data(), states, row_at, node);
      } else if (sees("(")) {
        row(node);
      } else {
        fail("expected `table`, `default`, `property`, `(` or `}`");
      }
    }
    for (std::size_t r = 0; r < rows; ++r)
      if (std::isnan(node.table[r * states])) {
        if (fallback.empty()) throw TextFault("a row of `" + std::string(node.name) + "` is missing: " + row_text(node, r), at, node.name);
        std::copy(fallback.begin(), fallback.end(), node.table.begin() + static_cast<std::ptrdiff_t>(r * states));
      }
  }
  [[noreturn]] void too_many_cells(std::size_t at, const BifVariable& node) const {
    throw TextFault("the tables have more than " + std::to_string(limits_.cells) + " cells with that of `" + std::string(node.name) + "`",
                    at, node.name);
  }

  std::string row_text(const BifVariable& node, std::size_t row) const {
    std::string text;
    for (std::size_t i = node.parents.size(); i-- > 0;) {
      const BifVariable& parent = file_.variables[static_cast<std::size_t>(node.parents[i])];
      const std::string state(parent.states[row % parent.states.size()]);
      text = std::string(parent.name) + "=" + state + (text.empty() ? "" : ", ") + text;
      row /= parent.states.size();
    }
    return text.empty() ? "its table" : text;
  }

  void row(BifVariable& node) {
    const std::size_t row_at = start_;
    next();
    std::size_t place = 0;
    for (std::size_t i = 0; i < node.parents.size(); ++i) {
      const BifVariable& parent = file_.variables[static_cast<std::size_t>(node.parents[i])];
      const std::size_t at = start_;
      const std::string_view state = word("a state");
      const std::int32_t found = parent.find(state);
      if (found < 0) throw TextFault("variable `" + std::string(parent.name) + "` has no such state", at, state);
      place = place * parent.states.size() + static_cast<std::size_t>(found);
      if (i + 1 < node.parents.size()) took(",");
    }
    take(")");
    double* cells = node.table.data() + place * node.states.size();
    if (!std::isnan(*cells)) throw TextFault("a second row for the same states", row_at, row_text(node, place));
    numbers(cells, node.states.size());
    check_row(cells, node.states.size(), row_at, node);
  }

  // The whole table, in the order of the variables as listed: the child's state slowest, the last parent's fastest.
  void table(BifVariable& node, std::size_t rows) {
    const std::size_t table_at = start_, states = node.states.size();
    if (!std::isnan(node.table[0])) fail("a second table");
    next();
    std::vector<double> cells(rows * states);
    numbers(cells.data(), cells.size());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t s = 0; s < states; ++s) node.table[r * states + s] = cells[s * rows + r];
      check_row(node.table.data() + r * states, states, table_at, node);
    }
  }

  void numbers(double* into, std::size_t count) {
    std::size_t found = 0;
    const std::size_t at = start_;
    while (!sees(";")) {
      double value = number();
      if (found < count) into[found] = value;
      ++found;
      while (sees(",") && plain_number(value)) {
        if (found < count) into[found] = value;
        ++found;
      }
      if (!sees(";")) took(",");
    }
    if (found != count)
      throw TextFault("expected " + std::to_string(count) + " probabilities", at, std::to_string(found),
                      "Decimals must have a point, not a comma");
    next();
  }

  // The number behind the comma that was just read, where it is a plain decimal from 0 to 1; then goes on behind it.
  bool plain_number(double& value) {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ == text_.size() || !is_digit(text_[at_])) return false;
    const char *first = text_.data() + at_, *last = text_.data() + text_.size();
    const auto [stop, error] = read_decimal(first, last, value);
    if (error != std::errc() || stop == last || is_word(*stop) || !(value <= 1)) return false;
    at_ += static_cast<std::size_t>(stop - first);
    next();
    return true;
  }

  double number() {
    const char* end = token_.data() + token_.size();
    double value = 0;
    const auto [stop, error] = read_decimal(token_.data(), end, value);
    const bool whole = !token_.empty() && !quoted_ && stop == end && (is_digit(token_[0]) || token_[0] == '.' || token_[0] == '-');
    if (error == std::errc::result_out_of_range && whole) {
      value = std::strtod(std::string(token_).c_str(), nullptr);  // below the least double it rounds; above it is refused
    } else if (error != std::errc() || !whole) {
      fail("expected a probability");
    }
    if (!(value >= 0 && value <= 1) && !(limits_.normalize && value >= 0 && std::isfinite(value)))
      fail("a probability must be a number between 0 and 1", "Decimals must have a point, not a comma");
    next();
    return value;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void check_row(double* cells, std::size_t count, std::size_t at, const BifVariable& node) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += cells[i];
    if (std::fabs(sum - 1) <= limits_.tolerance) return;
    if (!limits_.normalize || !(sum > 0 && std::isfinite(sum))) {
      char text[32];
      const auto [end, error] = std::to_chars(text, text + sizeof text, sum);
      throw TextFault("probabilities of `" + std::string(node.name) + "` do not sum to 1", at,
                      std::string_view(text, static_cast<std::size_t>(end - text)),
                      "Correct them, or read with normalize=True (--normalize)");
    }
    for (std::size_t i = 0; i < count; ++i) cells[i] /= sum;
  }

  std::string_view text_;
  BifLimits limits_;
  std::size_t at_ = 0, start_ = 0;
  std::string_view token_;
  bool quoted_ = false;
  std::size_t cells_ = 0;
  std::unordered_map<std::string_view, std::int32_t> places_;
  BifFile file_;
};

}  // namespace bayesbox
