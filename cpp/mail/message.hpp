// Messages as text: the informative header fields, and the text parts, decoded, without markup. A message that is not
// in one of the common forms is marked as unusual, for the full parser.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mail/fields.hpp"

namespace bayesbox {

class MailReader {
 public:
  MailReader(std::vector<std::string> names, Charsets charsets, Markup markup)
      : names_(std::move(names)), charsets_(std::move(charsets)), markup_(std::move(markup)) {
    for (const std::string& name : names_) lowered_names_.push_back(lowered(name));
  }

  // Appends the text of a message; false, with nothing appended, if it is unusual.
  bool append_message(std::string_view raw, std::string& to) {
    const std::size_t before = to.size();
    first_ = true;
    if (append_entity(raw, 0, to)) return true;
    to.resize(before);
    return false;
  }
  // The same for a text that is not a message.
  bool append_plain(std::string_view raw, std::string& to) const { return Charsets::append_unnamed(raw, to); }
  void append_markup(std::string_view page, std::string& to) { markup_.append_text(page, to); }

 private:
  static constexpr std::size_t kDeepest = 16;

  void begin_piece(std::string& to) {
    if (!first_) to.push_back('\n');
    first_ = false;
  }

  static const Field* find(const std::vector<Field>& fields, std::string_view name) {
    for (const Field& field : fields)
      if (field.name.size() == name.size() && has_at(field.name, 0, name)) return &field;
    return nullptr;
  }

  bool append_entity(std::string_view raw, std::size_t depth, std::string& to) {
    if (depth > kDeepest) return false;
    std::vector<Field> fields;
    const std::size_t start = read_head(raw, fields);
    if (start == std::string_view::npos) return false;
    if (depth == 0 && !append_head(fields, to)) return false;
    const std::string_view body = raw.substr(start);
    Parameters type, disposition;
    if (const Field* field = find(fields, "content-type"); field == nullptr) type.first = "text/plain";
    else if (!type.read(field->value) || std::count(type.first.begin(), type.first.end(), '/') != 1) return false;
    const std::string_view kind = std::string_view(type.first).substr(0, type.first.find('/'));
    if (kind == "message") return false;
    if (kind == "multipart") return append_parts(body, type, depth, to);
    if (kind == "text") return append_text(body, fields, type, to);
    if (const Field* field = find(fields, "content-disposition"); field != nullptr && !disposition.read(field->value)) return false;
    const std::string* name = disposition.find("filename");
    if (name == nullptr) name = type.find("name");
    begin_piece(to);
    to += type.first;
    to.push_back(' ');
    if (name != nullptr) to += *name;
    return true;
  }

  bool append_head(const std::vector<Field>& fields, std::string& to) {
    for (std::size_t i = 0; i < names_.size(); ++i)
      for (const Field& field : fields) {
        if (field.name.size() != names_[i].size() || !has_at(field.name, 0, lowered_names_[i])) continue;
        begin_piece(to);
        to += names_[i];
        to += ": ";
        if (!field_text_.append(field.value, charsets_, to)) return false;
      }
    begin_piece(to);
    return true;
  }

  bool append_text(std::string_view body, const std::vector<Field>& fields, const Parameters& type, std::string& to) {
    std::string_view bytes = body;
    if (const Field* field = find(fields, "content-transfer-encoding"); field != nullptr) {
      std::string_view value = field->value;
      value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
      const std::string encoding = lowered(value);
      decoded_.clear();
      if (encoding == "quoted-printable") {
        append_quoted_printable(body, decoded_);
        bytes = decoded_;
      } else if (encoding == "base64") {
        if (!append_base64(body, decoded_)) return false;
        bytes = decoded_;
      } else if (encoding != "7bit" && encoding != "8bit" && encoding != "binary") {
        return false;
      }
    }
    const std::string* charset = type.find("charset");
    const bool is_page = type.first == "text/html";
    begin_piece(to);
    page_.clear();
    std::string& text = is_page ? page_ : to;
    if (charset == nullptr ? !Charsets::append_unnamed(bytes, text) : !charsets_.append(bytes, lowered(*charset), text)) return false;
    if (is_page) markup_.append_text(page_, to);
    return true;
  }

  // The line that separates parts: where it begins, where the next line begins, and whether it is the last one.
  struct Line {
    std::size_t begin, end;
    bool last;
  };

  static bool find_line(std::string_view body, const std::string& mark, std::size_t from, Line& line) {
    for (std::size_t at = from; (at = body.find(mark, at)) != std::string_view::npos; ++at) {
      if (at != 0 && body[at - 1] != '\n') continue;
      std::size_t end = at + mark.size();
      const bool last = body.substr(end, 2) == "--";
      if (last) end += 2;
      while (end < body.size() && (body[end] == ' ' || body[end] == '\t')) ++end;
      if (body.substr(end, 2) == "\r\n") ++end;
      if (end < body.size() && body[end] != '\n') continue;
      line = {at, std::min(end + 1, body.size()), last};
      return true;
    }
    return false;
  }

  bool append_parts(std::string_view body, const Parameters& type, std::size_t depth, std::string& to) {
    const std::string* boundary = type.find("boundary");
    if (boundary == nullptr || type.first == "multipart/digest") return false;
    for (std::size_t at = 0; (at = body.find('\r', at)) != std::string_view::npos; ++at)
      if (at + 1 >= body.size() || body[at + 1] != '\n') return false;
    const std::string mark = "--" + *boundary;
    Line line, next;
    if (!find_line(body, mark, 0, line) || line.last) return false;
    for (; !line.last; line = next) {
      if (!find_line(body, mark, line.end, next)) return false;
      std::size_t end = next.begin;
      if (end == line.end) return false;
      --end;  // the end of the line in front of a separator belongs to that
      if (end > line.end && body[end - 1] == '\r') --end;
      if (!append_entity(body.substr(line.end, end - line.end), depth + 1, to)) return false;
    }
    return true;
  }

  std::vector<std::string> names_, lowered_names_;
  Charsets charsets_;
  Markup markup_;
  FieldText field_text_;
  std::string decoded_, page_;
  bool first_ = true;
};

// Whether a line begins like `From ann@example.org Mon Jan  1 10:00:00 2001`: what separates the messages of a mailbox.
inline bool is_separator(std::string_view line) {
  if (line.substr(0, 5) != "From ") return false;
  line = line.substr(0, std::min(line.find_first_of("\r\n"), line.size()));
  std::size_t at = 5;
  for (;; ++at) {
    if (at + 4 > line.size()) return false;
    if (is_digit(line[at]) && line[at + 1] == ':' && is_digit(line[at + 2]) && is_digit(line[at + 3])) break;
  }
  std::size_t digits = 0;
  for (at += 4; at < line.size(); ++at) {
    digits = is_digit(line[at]) ? digits + 1 : 0;
    if (digits == 4) return true;
  }
  return false;
}

// The messages of a mailbox, from place to place; it begins with a separator. `used` is where the message begins, with
// its separator, that may go on in bytes yet to come; with `last` there are none to come.
struct Mailbox {
  std::vector<std::int64_t> starts, stops;
  std::size_t used = 0;
};

inline Mailbox cut_mailbox(std::string_view data, bool last) {
  constexpr std::size_t none = std::string_view::npos;
  Mailbox box;
  const auto line_end = [&](std::size_t at) {
    const std::size_t end = data.find('\n', at);
    return end == none ? data.size() : end + 1;
  };
  std::size_t start = line_end(0);
  for (std::size_t at = start; (at = data.find("\nFrom ", at)) != none;) {
    const std::size_t begin = ++at;  // of the line
    std::size_t before = begin - 1;
    while (before > start && data[before - 1] == '\r') --before;
    if (before != start && data[before - 1] != '\n') continue;  // no empty line in front of it
    const std::size_t end = line_end(begin);
    if (end == data.size() && !last && data.back() != '\n') break;
    if (!is_separator(data.substr(begin, end - begin))) continue;
    box.starts.push_back(static_cast<std::int64_t>(start));
    box.stops.push_back(static_cast<std::int64_t>(begin));
    box.used = begin;
    at = start = end;
  }
  if (last && !data.empty()) {
    box.starts.push_back(static_cast<std::int64_t>(start));
    box.stops.push_back(static_cast<std::int64_t>(data.size()));
    box.used = data.size();
  }
  return box;
}

}  // namespace bayesbox
