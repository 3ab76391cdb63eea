#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/blake2b.hpp"
#include "core/cpu.hpp"
#include "table/row_ledger.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

std::string hex_of(const blake2b::State& state) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, 64> bytes;
  std::memcpy(bytes.data(), state.data(), 64);
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string hash(std::string_view text, std::string_view person = "") {
  return hex_of(blake2b::digest(blake2b::start_of(person), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
}

// Appendix A of RFC 7693, and the digests of no bytes and of lengths around a block by Python's hashlib.
TEST(blake2b_of_known_texts) {
  CHECK(hash("abc") ==
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  CHECK(hash(std::string(0, 'x')) ==
        "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce");
  CHECK(hash(std::string(127, 'x')) ==
        "acc1cd9ebcd76c8f0e9afcfe2e2479a1ab53ad0d02c8ebd767fd1e26c5cf96767c81077e5edd55f3fd8709dea6849b9792c8c19813f5ae6de9ac4d3a5efad515");
  CHECK(hash(std::string(128, 'x')) ==
        "082b91ea2e15d1556d2ceefdd5af5d64d31b4e01aff1959724578876293825b236ee8079173a0a38160d7d6685d6bca0bfb62c177b3599b8727d9173e2115b91");
  CHECK(hash(std::string(129, 'x')) ==
        "362a53bbe2ec08097b2f358a41d0e153aeed4c132af928400872413650e7bf22f9ae428ff73770170bbd95f935e5dd1953c17de8c7264c72d1f99303bf22dfaa");
  CHECK(hash(std::string(300, 'x')) ==
        "fe42f4108dd98f9b4f19fb21f386dfbe9a860256176e0312a1f0de66a3aed2a5ed361a16f6128fe27b6c88d8f39eeaddca46f1c2c9357965f893d0a7d64bd1cb");
  CHECK(hash("abc", "bayesbox row 1") ==
        "217a85ba176706cb0ee6618ad90ee3f96baa42c7b10d706b36632195ab5246c4aca6ef7c798bcebb09965505461a811b565e06a7308f627edcf168d7c48b88cd");
}

struct Table {
  std::vector<double> age;
  std::vector<std::int32_t> car;
  std::vector<std::int32_t> label;
  std::vector<double> weight;

  std::vector<std::uint16_t> ledger(bool weighted = false) const {
    static const std::string cars = "suvsports", labels = "HL";
    const auto bytes = [](const std::string& text) { return reinterpret_cast<const std::uint8_t*>(text.data()); };
    std::vector<LedgerColumn> columns(2);
    columns[0] = {"age", 'n', column_of(age), {}};
    columns[1] = {"car", 'l', column_of(car), {bytes(cars), {0, 3, 9}}};
    const Column weights = column_of(weight);
    RowLedger ledger;
    ledger.add(columns, column_of(label), {bytes(labels), {0, 1, 2}}, weighted ? &weights : nullptr);
    return ledger.lanes();
  }
  Table row(std::size_t i) const { return {{age[i]}, {car[i]}, {label[i]}, {weight[i]}}; }
};

std::vector<std::uint16_t> sum(std::vector<std::uint16_t> one, const std::vector<std::uint16_t>& other, std::uint16_t times = 1) {
  for (std::size_t i = 0; i < one.size(); ++i) one[i] = static_cast<std::uint16_t>(one[i] + times * other[i]);
  return one;
}

const Table kTable = {{20, -0.0, std::nan(""), 20}, {0, 1, -1, 0}, {0, 1, 1, -1}, {1, 2, 0.5, 1}};

TEST(the_ledger_is_the_sum_of_the_rows) {
  std::vector<std::uint16_t> total(kLanes);
  for (std::size_t i = 0; i < 3; ++i) total = sum(total, kTable.row(i).ledger());
  CHECK(kTable.ledger() == total);  // the last row has no label
  CHECK(std::count(total.begin(), total.end(), 0) < 20);
}

TEST(a_whole_weight_is_so_many_copies_and_another_is_hashed) {
  const auto one = kTable.row(1).ledger();
  CHECK(kTable.row(1).ledger(true) == sum(one, one));
  CHECK(kTable.row(2).ledger(true) != kTable.row(2).ledger());
  Table none = kTable.row(1);
  none.weight[0] = 0;
  CHECK(none.ledger(true) == std::vector<std::uint16_t>(kLanes));
  none.weight[0] = 65536;
  CHECK(none.ledger(true) != std::vector<std::uint16_t>(kLanes));
}

TEST(every_part_of_a_row_is_hashed) {
  Table zero = kTable.row(1), other_label = zero, other_car = zero, other_age = zero, no_age = zero;
  zero.age[0] = 0.0;
  other_label.label[0] = 0;
  other_car.car[0] = 0;
  other_age.age[0] = 1e-300;
  no_age.age[0] = std::nan("");
  const auto one = kTable.row(1).ledger();
  CHECK(zero.ledger() == one);
  for (const Table& other : {other_label, other_car, other_age, no_age}) CHECK(other.ledger() != one);
}

TEST(both_paths_give_the_same_lanes) {
  const bool before = avx2_is_on();
  use_avx2(false);
  const auto plain = kTable.ledger();
  use_avx2(true);
  CHECK(kTable.ledger() == plain);
  use_avx2(before);
}

TEST(a_code_without_a_text_is_missing) {
  Table beyond = kTable.row(0), missing = beyond;
  beyond.car[0] = 2;
  missing.car[0] = -1;
  CHECK(beyond.ledger() == missing.ledger());
  CHECK(beyond.ledger() != kTable.row(0).ledger());
}

}  // namespace
}  // namespace bayesbox::test
