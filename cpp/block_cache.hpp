// Blocks of memory that were given back, kept for the next that asks for as much. Batch after batch of a stream wants
// the same sizes; memory from the system would be cleared page by page each time, and threads would wait for each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace bayesbox {

class BlockCache {
 public:
  static BlockCache& shared() {
    static BlockCache* cache = new BlockCache;  // never destroyed: arrays may outlive it
    return *cache;
  }

  void* take(std::size_t bytes) {
    if (kept_size(bytes)) {
      const std::lock_guard lock(mutex_);
      const auto found = free_.find(rounded(bytes));
      if (found != free_.end() && !found->second.empty()) {
        void* block = found->second.back();
        found->second.pop_back();
        held_ -= found->first;
        return block;
      }
    }
    void* block = std::malloc(kept_size(bytes) ? rounded(bytes) : std::max<std::size_t>(bytes, 1));
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }

  void give(void* block, std::size_t bytes) noexcept {
    if (block != nullptr && kept_size(bytes)) {
      const std::lock_guard lock(mutex_);
      if (held_ + rounded(bytes) <= kMost) try {
          free_[rounded(bytes)].push_back(block);
          held_ += rounded(bytes);
          return;
        } catch (const std::bad_alloc&) {
        }
    }
    std::free(block);
  }

 private:
  static constexpr std::size_t kLeast = std::size_t{1} << 16, kLargest = std::size_t{1} << 20;  // bytes of one block
  static constexpr std::size_t kMost = std::size_t{1} << 25;                                   // of all together

  static bool kept_size(std::size_t bytes) { return bytes >= kLeast && bytes <= kLargest; }
  static std::size_t rounded(std::size_t bytes) { return (bytes + kLeast - 1) / kLeast * kLeast; }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;  // by size
  std::size_t held_ = 0;
};

}  // namespace bayesbox
