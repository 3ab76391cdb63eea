#include "mail.hpp"

#include <random>
#include <string>

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
    for (const bool last : {false, true}) {
      const Mailbox box = cut_mailbox(raw, last);
      CHECK(box.used <= raw.size());
    }
  }
}

}  // namespace
}  // namespace bayesbox::test
