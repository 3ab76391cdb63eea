#include "mail/message.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "mail/document_files.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

MailReader reader() {
  Charsets charsets;
  CharacterTable latin;
  for (std::uint32_t byte = 0; byte < 256; ++byte) latin[byte] = byte;
  charsets.add("iso-8859-1", latin);
  charsets.add_utf8("utf-8");
  Markup markup;
  markup.name("amp;", "&");
  markup.name("amp", "&");
  return MailReader({"Subject", "From"}, std::move(charsets), std::move(markup));
}

std::string text_of(const std::string& raw) {
  MailReader mail = reader();
  std::string text;
  return mail.append_message(raw, text) ? text : "unusual";
}

TEST(messages_in_their_common_forms) {
  CHECK(text_of("From: a@b\nSubject: one\n two\n\nbody") == "Subject: one two\nFrom: a@b\n\nbody");
  CHECK(text_of("subject: =?iso-8859-1?q?=E9_?= =?iso-8859-1?b?YQ==?=\n\n") == "Subject: \xC3\xA9 a\n\n");
  CHECK(text_of("Content-Type: text/html\n\n<p>x &amp; y<script>z</script>") == "\n x & y ");
  CHECK(text_of("Content-Type: multipart/mixed; boundary=B\n\n--B\n\none\n--B\n\ntwo\n--B--\n") == "\none\ntwo");
  CHECK(text_of("Content-Transfer-Encoding: base64\n\nYW\nI=\n") == "\nab");
  CHECK(text_of("no head") == "unusual");
  CHECK(text_of("Content-Transfer-Encoding: base64\n\nYWI") == "unusual");
}

TEST(a_mailbox_is_cut) {
  const std::string data = "From a 10:00 2001\nSubject: x\n\nFrom here\n\nFrom b 11:00 2002\n";
  const Mailbox box = cut_mailbox(data, true);
  CHECK(box.starts.size() == 2 && box.stops[1] == static_cast<std::int64_t>(data.size()));
  CHECK(cut_mailbox(data, false).starts.size() == 1);
  CHECK(cut_mailbox("", true).starts.empty());
}

TEST(files_are_what_they_begin_with) {
  CHECK(file_kind("") == FileKind::text && file_kind("Note: x") == FileKind::text && file_kind("A text.\nTo: x\n") == FileKind::text);
  CHECK(file_kind("Note: x\nSUBJECT : y") == FileKind::message && file_kind("To: a\r\n\tb\r\n\r\nno field") == FileKind::message);
  CHECK(file_kind("To: a\nno field\n") == FileKind::text && file_kind(" To: a\n") == FileKind::text);
  CHECK(file_kind("From a 10:00 2001\nTo: b\n") == FileKind::other && file_kind("\x1f\x8b") == FileKind::other);
  CHECK(file_kind("From a 10:00 2001\nno field\n") == FileKind::text);
  const std::string padding(4096 - 7, 'x');
  CHECK(is_message("To: a\nX" + padding + ": b\n") && !is_message("X: a\nX" + padding + ": b\nTo: c\n"));
}

TEST(small_files_are_read_until_there_are_enough_bytes) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("bayesbox" + std::to_string(std::random_device{}()))).string();
  const std::vector<std::string> names = {folder + "a", folder + "b", folder + "c", folder + "absent", folder + "d"};
  for (const auto& [name, text] : {std::pair(names[0], "kiwi"), {names[1], "To: ann\n"}, {names[2], "far too long"}, {names[4], ""}})
    std::ofstream(name, std::ios::binary) << text;
  const SmallFiles all = read_small_files(names, {0, 0, 0, 0, 0}, 8, 100);
  CHECK(all.data == "kiwiTo: ann\n" && (all.ends == std::vector<std::int64_t>{0, 4, 12, 12, 12, 12}));
  CHECK((all.kinds == std::vector<std::uint8_t>{0, 1, 2, 2, 0}));
  const SmallFiles some = read_small_files(names, {1, 0, 0, 0, 0}, 8, 1);
  CHECK(some.data == "To: ann\n" && (some.kinds == std::vector<std::uint8_t>{2, 1}));
  for (const std::string& name : names) std::remove(name.c_str());
}

// Pieces of mail in any order: nothing is read out of bounds, which the sanitizers watch.
TEST(mail_that_makes_no_sense) {
  const std::vector<std::string> pieces = {
      "Subject: ", "From: a\n", "=?utf-8?q?=C3=", "=A9?=", "=?iso-8859-1?b?YQ==?=", "\n", "\r\n", "\r", "--B", "--B--", "--",
      "Content-Type: multipart/mixed; boundary=B\n", "Content-Type: text/html; charset=\"utf-8\"", "&amp", "&#x41;", "&#",
      "Content-Transfer-Encoding: quoted-printable\n", "Content-Transfer-Encoding: base64\n", "<script", "<!--", "=", "=\n",
      "YWJj", "From b 10:00 2001\n", "\nFrom ", std::string(1, '\0'), "\xC3", "\xFF\xFE", " ", "\t", ";", "\""};
  std::mt19937 random(1);
  MailReader mail = reader();
  for (int round = 0; round < 20000; ++round) {
    std::string raw;
    for (auto number = random() % 12; number > 0; --number) raw += pieces[random() % pieces.size()];
    std::string text = "before";
    if (!mail.append_message(raw, text)) CHECK(text == "before");
    mail.append_plain(raw, text);
    mail.append_markup(raw, text);
    file_kind(raw);
    for (const bool last : {false, true}) {
      const Mailbox box = cut_mailbox(raw, last);
      CHECK(box.used <= raw.size());
    }
  }
}

}  // namespace
}  // namespace bayesbox::test
