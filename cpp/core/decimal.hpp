// Parsing of decimals, correctly rounded.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>

#if defined(__APPLE__)
#include <xlocale.h>
#elif !defined(_WIN32)
#include <locale.h>
#endif

// libc++ reads doubles from version 20 on, and on macOS only with the library of a system as new.
#if defined(__APPLE__) || (defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000)
#define BAYESBOX_NO_FROM_CHARS_OF_DOUBLE
#endif

namespace bayesbox {

#if !defined(_WIN32)
// As std::from_chars, by the C library: for standard libraries that lack it. Neither takes a plus sign, spaces or
// hexadecimals; this one accepts neither infinity nor NaN, which are not needed here.
inline std::from_chars_result decimal_by_strtod(const char* first, const char* last, double& value) {
  const auto digits_from = [last](const char* at) {
    while (at < last && *at >= '0' && *at <= '9') ++at;
    return at;
  };
  const char* at = first < last && *first == '-' ? first + 1 : first;
  const char* end = digits_from(at);
  std::ptrdiff_t digits = end - at;
  if (end < last && *end == '.') {
    const char* decimals = digits_from(end + 1);
    digits += decimals - end - 1;
    if (digits > 0) end = decimals;
  }
  if (digits == 0) return {first, std::errc::invalid_argument};
  if (end < last && (*end == 'e' || *end == 'E')) {
    const char* power = end + 1 < last && (end[1] == '-' || end[1] == '+') ? end + 2 : end + 1;
    const char* stop = digits_from(power);
    if (stop > power) end = stop;
  }
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);  // whose decimals have a point
  const double found = strtod_l(std::string(first, end).c_str(), nullptr, plain);
  bool zero = true;
  for (; at < end && *at != 'e' && *at != 'E'; ++at) zero = zero && (*at == '0' || *at == '.');
  if (std::isinf(found) || (found == 0 && !zero)) return {end, std::errc::result_out_of_range};
  value = found;
  return {end, std::errc()};
}
#endif

inline std::from_chars_result any_decimal(const char* first, const char* last, double& value) {
#if defined(BAYESBOX_NO_FROM_CHARS_OF_DOUBLE)
  return decimal_by_strtod(first, last, value);
#else
  return std::from_chars(first, last, value);
#endif
}

// As std::from_chars, but fast for few digits: an integer below 2^53 over a power of ten up to 10^22 has both
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
  if (!plain) return any_decimal(first, last, value);
  value = static_cast<double>(digits) / kPowers[decimals];
  return {at, std::errc()};
}

}  // namespace bayesbox
