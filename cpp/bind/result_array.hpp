// Results returned to Python as arrays: uninitialised memory, in large pages if it is large; and
// vectors.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/block_cache.hpp"
#include "core/large_pages.hpp"

namespace bayesbox {

// An array over memory that its owner keeps: of integers of any size, or of doubles.
template <class T>
nanobind::object array_over(T* memory, std::initializer_list<std::size_t> shape, const nanobind::capsule& owner);

template <class T>
class ResultArray {
 public:
  explicit ResultArray(std::size_t size) {
    const std::size_t bytes = size * sizeof(T);
    memory_ = {static_cast<T*>(BlockCache::shared().take(bytes)), GiveBack{bytes}};
    ask_for_large_pages(memory_.get(), bytes);
  }

  T* data() { return memory_.get(); }

  nanobind::object to_numpy(std::initializer_list<std::size_t> shape) && {
    T* held = memory_.get();
    auto* rest = new Memory(std::move(memory_));
    nanobind::capsule owner(rest, [](void* p) noexcept { delete static_cast<Memory*>(p); });
    return array_over(held, shape, owner);
  }

 private:
  struct GiveBack {
    std::size_t bytes;
    void operator()(T* memory) const noexcept { BlockCache::shared().give(memory, bytes); }
  };
  using Memory = std::unique_ptr<T, GiveBack>;
  Memory memory_{nullptr, GiveBack{0}};
};

// A result vector as an array that owns it.
template <class T>
nanobind::object to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* held = new std::vector<T>(std::move(values));
  nanobind::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return array_over(held->data(), shape, owner);
}

template <class T>
nanobind::object to_numpy(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

// A result text as an array of bytes that owns it.
inline nanobind::object to_numpy(std::string&& text) {
  auto* held = new std::string(std::move(text));
  nanobind::capsule owner(held, [](void* p) noexcept { delete static_cast<std::string*>(p); });
  return array_over(reinterpret_cast<std::uint8_t*>(held->data()), {held->size()}, owner);
}

}  // namespace bayesbox
