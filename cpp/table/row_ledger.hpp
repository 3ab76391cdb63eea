// The ledger of some rows: the sum over the rows of a hash of 1,024 lanes of 16 bits, lane by lane modulo 2^16 (LtHash).
//
// A row is hashed as bytes that no other row has, integers in 8 bytes, the lowest first:
//
//     length of the label, label, weight; then for each column that has a value, in the order given,
//     length of its name, name, tag, length of the value, value
//
// A number is a value of 8 bytes, its double; a level is its text. The row's digest is the seed of 32 more, one for each
// 32 lanes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/column.hpp"
#include "core/interrupt.hpp"
#include "core/ledger_kernels.hpp"

namespace bayesbox {

inline constexpr std::string_view kRowPerson = "bayesbox row 1", kLanePerson = "bayesbox lanes 1";
inline constexpr double kMostCopies = 65535;
inline constexpr char kNumberTag = 'n';

// Texts one after another; text i lies from offset i to offset i + 1.
struct Texts {
  const std::uint8_t* bytes = nullptr;
  std::vector<std::int64_t> offsets = {0};

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::uint8_t> at(std::size_t i) const {
    return {bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

// A column: numbers where there are no codes; else the text of each code, missing where it has none.
struct LedgerColumn {
  std::string name;
  char tag = kNumberTag;
  Column values;
  Texts texts;
};

class RowLedger {
 public:
  // Adds the rows: those without a label or without a weight do not count. An integer weight up to 65,535 is that many
  // copies of the row; any other is part of what is hashed.
  void add(const std::vector<LedgerColumn>& columns, const Column& target, const Texts& labels, const Column* weights) {
    const blake2b::State row_start = blake2b::start_of(kRowPerson), lane_start = blake2b::start_of(kLanePerson);
    const LedgerKernels& kernels = kernel_set<LedgerKernels>();
    std::vector<std::string> heads;
    for (const LedgerColumn& column : columns) {
      std::string& head = heads.emplace_back();
      append_length(head, column.name.size());
      head += column.name;
      head.push_back(column.tag);
    }
    std::string row;
    for (std::size_t i = 0; i < target.rows; ++i) {
      poll(256 + 16 * columns.size());
      const std::int32_t label = load<std::int32_t>(target.at(i));
      const double weight = weights == nullptr ? 1.0 : load<double>(weights->at(i));
      if (label < 0 || static_cast<std::size_t>(label) >= labels.size() || weight == 0) continue;
      const bool whole = weight <= kMostCopies && std::floor(weight) == weight;
      row.clear();
      append_text(row, labels.at(static_cast<std::size_t>(label)));
      append_number(row, whole ? 1.0 : weight);
      for (std::size_t j = 0; j < columns.size(); ++j) append_value(row, heads[j], columns[j], i);
      const blake2b::State seed =
          blake2b::digest(row_start, {reinterpret_cast<const std::uint8_t*>(row.data()), row.size()});
      kernels.add_expanded(lane_start, seed, static_cast<std::uint16_t>(whole ? weight : 1.0), sums_);
    }
  }

  // The lanes in the order of the digests.
  std::vector<std::uint16_t> lanes() const {
    std::vector<std::uint16_t> lanes;
    lanes.reserve(kLanes);
    for (std::size_t digest = 0; digest < kDigests; ++digest)
      for (std::size_t word = 0; word < 8; ++word)
        for (std::size_t lane = 0; lane < 4; ++lane) lanes.push_back(sums_.sums[digest / 4][word][digest % 4][lane]);
    return lanes;
  }

 private:
  static void append_length(std::string& to, std::uint64_t length) {
    char bytes[8];
    std::memcpy(bytes, &length, 8);
    to.append(bytes, 8);
  }
  static void append_text(std::string& to, std::span<const std::uint8_t> text) {
    append_length(to, text.size());
    to.append(reinterpret_cast<const char*>(text.data()), text.size());
  }
  static void append_number(std::string& to, double value) {
    value += 0.0;  // -0 is 0
    char bytes[8];
    std::memcpy(bytes, &value, 8);
    to.append(bytes, 8);
  }
  static void append_value(std::string& row, const std::string& head, const LedgerColumn& column, std::size_t i) {
    if (column.tag == kNumberTag) {
      const double value = value_at(column.values, i);
      if (std::isnan(value)) return;
      row += head;
      append_length(row, 8);
      append_number(row, value);
      return;
    }
    const std::int64_t code = with_integer_type(
        column.values.kind, [&]<class T>() { return static_cast<std::int64_t>(load<T>(column.values.at(i))); });
    if (static_cast<std::uint64_t>(code) >= column.texts.size()) return;
    row += head;
    append_text(row, column.texts.at(static_cast<std::size_t>(code)));
  }

  LaneSums sums_;
};

}  // namespace bayesbox
