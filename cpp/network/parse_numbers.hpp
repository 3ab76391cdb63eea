// Many numbers in a text, one after another: the tables of formats that hold little else.
#pragma once

#include <cstddef>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/decimal.hpp"
#include "core/interrupt.hpp"

namespace bayesbox {

struct NumberRun {
  std::vector<double> values;
  std::size_t end = 0;  // behind the last number
};

// Reads decimals from `at` on, up to `most` of them, with space and the characters of `between` passed over. It stops
// before anything else, and before a number that no double holds: what to say of it is up to the caller.
inline NumberRun read_numbers(std::string_view text, std::size_t at, std::size_t most, std::string_view between) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const auto passed = [&](char c) { return is_space(c) || between.find(c) != std::string_view::npos; };
  NumberRun run;
  run.end = at;
  while (run.values.size() < most) {
    poll_at(run.values.size(), 16);
    while (at < text.size() && passed(text[at])) ++at;
    if (at == text.size()) break;
    const char* first = text.data() + at;
    const char* last = text.data() + text.size();
    const std::size_t sign = *first == '-' && first + 1 < last ? 1 : 0;
    const char lead = first[sign];
    if (!(lead >= '0' && lead <= '9') && lead != '.') break;  // "inf", "nan" and names are none
    double value = 0;
    const auto [stop, error] = read_decimal(first, last, value);
    if (error != std::errc() || (stop != last && !passed(*stop) && *stop != ';')) break;
    run.values.push_back(value);
    at = static_cast<std::size_t>(stop - text.data());
    run.end = at;
  }
  return run;
}

}  // namespace bayesbox
