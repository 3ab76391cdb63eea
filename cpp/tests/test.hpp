// A test is a function that registers itself; CHECK counts, reports and goes on.
#pragma once

#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/column.hpp"
#include "core/cpu.hpp"

namespace bayesbox::test {

struct Case {
  const char* name;
  std::function<void()> body;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
inline int& failures() {
  static int count = 0;
  return count;
}
inline void fail(const char* file, int line, const std::string& what) {
  ++failures();
  std::printf("%s:%d: %s\n", file, line, what.c_str());
}

struct Registration {
  Registration(const char* name, std::function<void()> body) { cases().push_back({name, std::move(body)}); }
};

template <class T>
Kind kind_for() {
  if constexpr (std::is_same_v<T, double>) return Kind::float64;
  else if constexpr (std::is_same_v<T, float>) return Kind::float32;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? Kind::int8 : sizeof(T) == 2 ? Kind::int16 : sizeof(T) == 4 ? Kind::int32 : Kind::int64;
  else
    return sizeof(T) == 1 ? Kind::uint8 : sizeof(T) == 2 ? Kind::uint16 : sizeof(T) == 4 ? Kind::uint32 : Kind::uint64;
}

template <class T>
Column column_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(T), values.size(), kind_for<T>()};
}

// Column j of a row-major matrix.
template <class T>
Column column_of(const std::vector<T>& matrix, std::size_t columns, std::size_t j) {
  return {reinterpret_cast<const char*>(matrix.data() + j), static_cast<std::int64_t>(columns * sizeof(T)),
          matrix.size() / columns, kind_for<T>()};
}

inline std::vector<std::int32_t> random_labels(std::mt19937_64& random, std::size_t rows, int first, int last) {
  std::vector<std::int32_t> labels(rows);
  for (auto& label : labels) label = std::uniform_int_distribution<std::int32_t>(first, last)(random);
  return labels;
}

// Runs the body with each instruction set that the machine has.
inline void on_each_path(const std::function<void()>& body) {
  for (const Instructions each : {Instructions::baseline, Instructions::avx2, Instructions::avx512})
    if (use_instructions(each) == each) body();
  use_avx2(true);
}

}  // namespace bayesbox::test

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) ::bayesbox::test::fail(__FILE__, __LINE__, "CHECK(" #condition ")"); \
  } while (false)

#define CHECK_THROWS(expression, Exception)                                                        \
  do {                                                                                             \
    bool caught = false;                                                                           \
    try {                                                                                          \
      (void)(expression);                                                                          \
    } catch (const Exception&) {                                                                   \
      caught = true;                                                                               \
    }                                                                                              \
    if (!caught) ::bayesbox::test::fail(__FILE__, __LINE__, #expression " does not throw " #Exception); \
  } while (false)

#define TEST(name)                                                        \
  static void name();                                                     \
  static const ::bayesbox::test::Registration name##_registration(#name, name); \
  static void name()
