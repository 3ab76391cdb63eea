// Decimals as files have them, correctly rounded.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace bayesbox {

// As std::from_chars, but quick where the digits are few: an integer below 2^53 over a power of ten up to 10^22 has both
// numbers exact, so that their quotient is rounded once (Clinger's fast path).
inline std::from_chars_result read_decimal(const char* first, const char* last, double& value) {
  static constexpr double kPowers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr std::size_t kMostDigits = 15;
  std::uint64_t digits = 0;
  std::size_t count = 0, decimals = 0;
  const char* at = first;
  for (; at < last && *at >= '0' && *at <= '9'; ++at, ++count) digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
  if (at > first && at < last && *at == '.') {
    const char* point = at++;
    for (; at < last && *at >= '0' && *at <= '9'; ++at, ++count) digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    decimals = static_cast<std::size_t>(at - point) - 1;
  }
  const bool plain = at > first && count <= kMostDigits && !(at < last && (*at == 'e' || *at == 'E'));
  if (!plain) return std::from_chars(first, last, value);
  value = static_cast<double>(digits) / kPowers[decimals];
  return {at, std::errc()};
}

}  // namespace bayesbox
