// Freed blocks of memory, kept for the next request of the same size. Every batch needs the same sizes; memory from the
// system would be cleared page by page each time, and threads would wait for each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>

namespace bayesbox {

class BlockCache {
 public:
  static BlockCache& shared() {
    static BlockCache* cache = new BlockCache;  // never destroyed: arrays may outlive it
    return *cache;
  }

  ~BlockCache() {
    for (const Block& block : free_) std::free(block.memory);
  }

  void* take(std::size_t bytes) {
    const std::size_t size = rounded(bytes);
    if (kept_size(size)) {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(free_.rbegin(), free_.rend(), [&](const Block& block) { return block.size == size; });
      if (found != free_.rend()) {
        void* memory = found->memory;
        free_.erase(std::next(found).base());
        held_ -= size;
        return memory;
      }
    }
    void* memory = std::malloc(std::max<std::size_t>(size, 1));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }

  // `bytes` as requested. The oldest blocks are released first.
  void give(void* memory, std::size_t bytes) noexcept {
    const std::size_t size = rounded(bytes);
    if (memory == nullptr || !kept_size(size)) return std::free(memory);
    const std::lock_guard lock(mutex_);
    try {
      free_.push_back({memory, size});
    } catch (const std::bad_alloc&) {
      return std::free(memory);
    }
    for (held_ += size; held_ > kMost; free_.pop_front()) {
      held_ -= free_.front().size;
      std::free(free_.front().memory);
    }
  }

 private:
  struct Block {
    void* memory;
    std::size_t size;
  };
  static constexpr std::size_t kStep = std::size_t{1} << 16, kMost = std::size_t{1} << 25;  // bytes: 32 MB in all

  static bool kept_size(std::size_t size) { return size >= kStep && size <= kMost; }
  static std::size_t rounded(std::size_t bytes) { return bytes < kStep ? bytes : (bytes + kStep - 1) / kStep * kStep; }

  std::mutex mutex_;
  std::deque<Block> free_;  // those given back last are at the end
  std::size_t held_ = 0;
};

}  // namespace bayesbox
