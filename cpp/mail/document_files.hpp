// Documents in files: detecting the type of a file from its beginning, and reading many small files at a time.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/interrupt.hpp"
#include "mail/message.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace bayesbox {

inline constexpr std::size_t kBeginning = 4096;  // bytes used to detect mail

// The name of a field at the beginning of a line, with nothing but spaces between it and its colon; empty where it has none.
inline std::string_view field_name(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && line[end] > ' ' && line[end] < 127 && line[end] != ':') ++end;
  std::size_t colon = end;
  while (colon < line.size() && (line[colon] == ' ' || line[colon] == '\t')) ++colon;
  return colon < line.size() && line[colon] == ':' ? line.substr(0, end) : std::string_view();
}

// Whether a file begins like a mailbox: the line that separates messages, and then a field.
inline bool is_mailbox(std::string_view data) {
  const std::string_view beginning = data.substr(0, kBeginning);
  const std::size_t end = beginning.find('\n');
  return end != std::string_view::npos && is_separator(beginning.substr(0, end)) && !field_name(beginning.substr(end + 1)).empty();
}

// Whether a file begins like a message: lines of fields, one of those that every message may have among them.
inline bool is_message(std::string_view data) {
  static constexpr std::string_view kKnown[] = {
      "subject",    "from",         "to",           "cc",           "date",        "received",
      "return-path", "reply-to",     "sender",       "message-id",   "mime-version", "delivered-to",
      "envelope-to", "content-type", "newsgroups",   "path",         "xref",        "x-mailer"};
  const std::string_view beginning = data.substr(0, kBeginning);
  bool known = false;
  for (std::size_t at = 0; at < beginning.size();) {
    const std::size_t end = std::min(beginning.find_first_of("\r\n", at), beginning.size());
    const std::size_t next = beginning.substr(end, 2) == "\r\n" ? end + 2 : end + 1;
    if (next >= beginning.size() && data.size() > kBeginning) return known;  // the last line may be cut
    const std::string_view line = beginning.substr(at, end - at);
    if (line.find_first_not_of(" \t\v\f") == std::string_view::npos) return known;
    if (at == 0 || (line[0] != ' ' && line[0] != '\t')) {
      const std::string_view name = field_name(line);
      if (name.empty()) return false;
      const std::string small = lowered(name);
      known = known || std::find(std::begin(kKnown), std::end(kKnown), small) != std::end(kKnown);
    }
    at = next;
  }
  return known;
}

// How a file is read; large, unreadable and compressed files and mailboxes are left to another reader.
enum class FileKind : std::uint8_t { text = 0, message = 1, other = 2 };

inline FileKind file_kind(std::string_view data) {
  for (const std::string_view magic : {std::string_view("\x1f\x8b"), std::string_view("\x28\xb5\x2f\xfd"), std::string_view("BZh")})
    if (data.substr(0, magic.size()) == magic) return FileKind::other;
  if (is_mailbox(data)) return FileKind::other;
  return is_message(data) ? FileKind::message : FileKind::text;
}

// The bytes of files one after another, each from end i to end i + 1.
struct SmallFiles {
  std::string data;
  std::vector<std::int64_t> ends = {0};
  std::vector<std::uint8_t> kinds;
};

// Appends a file of at most this many bytes; false, with nothing appended, otherwise.
inline bool append_file(const char* path, std::size_t largest, std::string& to) {
#if defined(__unix__) || defined(__APPLE__)
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is not waited for
  if (file < 0) return false;
  const std::size_t before = to.size();
  struct stat about;
  bool whole = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && static_cast<std::uint64_t>(about.st_size) <= largest;
  if (whole) {
    const auto size = static_cast<std::size_t>(about.st_size);
    to.resize(before + size + 1);  // one more, which shows whether it has grown
    std::size_t at = before;
    for (;;) {
      const ssize_t got = read(file, to.data() + at, to.size() - at);
      if (got < 0 && errno == EINTR) continue;
      if (got > 0) at += static_cast<std::size_t>(got);
      whole = got >= 0 && at < to.size();
      if (got <= 0 || !whole || (size != 0 && at == before + size)) break;  // not asked again where nothing is left
    }
    to.resize(whole ? at : before);
  }
  close(file);
  return whole;
#else
  static_cast<void>(path);
  static_cast<void>(largest);
  static_cast<void>(to);
  return false;
#endif
}

// Files until there are `enough` bytes. Those to be passed over have an entry in `passed` that is not 0.
inline SmallFiles read_small_files(const std::vector<std::string>& paths, const std::vector<std::int64_t>& passed,
                                   std::size_t largest, std::size_t enough) {
  SmallFiles files;
  for (std::size_t i = 0; i < paths.size() && files.data.size() < enough; ++i) {
    poll(4096);
    const std::size_t before = files.data.size();
    FileKind kind = FileKind::other;
    if (passed[i] == 0 && append_file(paths[i].c_str(), largest, files.data)) {
      kind = file_kind(std::string_view(files.data).substr(before));
      if (kind == FileKind::other) files.data.resize(before);
    }
    files.kinds.push_back(static_cast<std::uint8_t>(kind));
    files.ends.push_back(static_cast<std::int64_t>(files.data.size()));
  }
  return files;
}

}  // namespace bayesbox
