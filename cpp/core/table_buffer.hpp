// Memory for large tables: not filled, and on Linux in large pages, since touching new small ones would cost more than the
// arithmetic on them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "core/large_pages.hpp"

namespace bayesbox {

class TableBuffer {
 public:
  TableBuffer() = default;
  TableBuffer(TableBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  TableBuffer(const TableBuffer&) = delete;
  TableBuffer& operator=(TableBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  TableBuffer& operator=(const TableBuffer&) = delete;
  ~TableBuffer() { release(); }

  // Uninitialised space for this many numbers; growing discards the contents.
  void reserve(std::size_t size) {
    if (size <= size_) return;
    release();
    const std::size_t page = alignment_of(size);
    const std::size_t bytes = (size * sizeof(double) + page - 1) / page * page;
    data_ = static_cast<double*>(::operator new(bytes, std::align_val_t(page)));
    size_ = size;
    ask_for_large_pages(data_, bytes, kLargePage);
  }
  std::size_t size() const { return size_; }
  double* data() { return data_; }
  const double* data() const { return data_; }

 private:
  static constexpr std::size_t kCacheLine = 64;
  static std::size_t alignment_of(std::size_t size) { return size * sizeof(double) >= kLargePage ? kLargePage : kCacheLine; }

  void release() {
    if (data_ != nullptr) ::operator delete(data_, std::align_val_t(alignment_of(size_)));
    data_ = nullptr;
    size_ = 0;
  }

  double* data_ = nullptr;
  std::size_t size_ = 0;
};

// The largest released buffer, kept for reuse: new pages would be cleared first.
class SpareBuffer {
 public:
  TableBuffer take() {
    const std::lock_guard<std::mutex> held(lock_);
    return std::move(spare_);
  }
  void give(TableBuffer buffer) {
    const std::lock_guard<std::mutex> held(lock_);
    if (buffer.size() > spare_.size()) spare_ = std::move(buffer);
  }

 private:
  std::mutex lock_;
  TableBuffer spare_;
};

}  // namespace bayesbox
