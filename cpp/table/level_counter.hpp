// Counts of (class, level) pairs of one column, block of rows by block of rows.
//
// A row becomes a key, label * width + level, and keys are tallied in the way that suits their number: few keys are
// compared a vector of bytes at a time; more go to four interleaved histograms, so that equal neighbours do not wait
// for each other's store; very many are counted in place. Tallies of 32 bits are drained before they can overflow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/column.hpp"
#include "core/table_kernels.hpp"

namespace bayesbox {

// A code as an offset: negative codes become huge and so fall outside every [0, size).
template <class T>
inline std::uint64_t as_offset(T code) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(code));
}

// The labels of a block of rows, and what each adds to a key.
class LabelBlock {
 public:
  LabelBlock(std::size_t classes, std::size_t most_rows) : classes_(classes), copy_(most_rows) {}

  void read(const Column& target, std::size_t begin, std::size_t count) {
    count_ = count;
    labels_ = labels_at(target, begin, count, copy_.data());
    bytes_.width = words_.width = 0;
  }
  // The labels of another block, less those of rows where `keep(row)` does not hold.
  template <class Keep>
  void read_where(const LabelBlock& from, const Keep& keep) {
    count_ = from.count_;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::int32_t label = from.labels_[i];  // read in any case: values alternate as they like, so no branch
      copy_[i] = keep(i) ? label : -1;
    }
    labels_ = copy_.data();
    bytes_.width = words_.width = 0;
  }
  std::size_t count() const { return count_; }
  bool kept(std::size_t row) const { return as_offset(labels_[row]) < classes_; }
  std::size_t label(std::size_t row) const { return static_cast<std::size_t>(labels_[row]); }

  template <class Key>
  struct Offsets {
    std::size_t width = 0;  // the levels these offsets are for
    std::vector<Key> offset, keep;
  };
  // label * width for rows that are kept, with keep all ones; the classes times the width must fit in Key.
  template <class Key>
  const Offsets<Key>& offsets(std::size_t width) {
    Offsets<Key>& result = [this]() -> Offsets<Key>& {
      if constexpr (sizeof(Key) == 1) return bytes_;
      else return words_;
    }();
    if (result.width == width) return result;
    result.width = width;
    result.offset.resize(copy_.size());
    result.keep.resize(copy_.size());
    const std::int32_t* labels = labels_;  // local names: writing bytes may change any member
    const std::size_t count = count_;
    Key *offset = result.offset.data(), *keep = result.keep.data();
    const auto classes = static_cast<std::uint32_t>(classes_), levels = static_cast<std::uint32_t>(width);
    for (std::size_t i = 0; i < count; ++i) {
      const auto label = static_cast<std::uint32_t>(labels[i]);
      keep[i] = static_cast<Key>(label < classes ? ~Key{0} : Key{0});
      offset[i] = static_cast<Key>(label < classes ? label * levels : 0);
    }
    return result;
  }

 private:
  std::size_t classes_;
  std::size_t count_ = 0;
  const std::int32_t* labels_ = nullptr;
  std::vector<std::int32_t> copy_;
  Offsets<std::uint8_t> bytes_;
  Offsets<std::uint16_t> words_;
};

class LevelCounter {
 public:
  // `flush_rows`: the 32-bit tallies are drained after at most this many rows.
  explicit LevelCounter(std::size_t classes, std::uint64_t flush_rows = std::uint64_t{1} << 31)
      : classes_(classes), flush_rows_(flush_rows) {}

  std::size_t width() const { return width_; }
  std::vector<std::int64_t>& counts() { return counts_; }  // classes x width; complete after drain()

  void set_width(std::size_t width) {
    width_ = width;
    counts_.assign(classes_ * width, 0);
    choose_form();
  }

  // Moves the window: `below` levels are put before the first, and `above` behind the last.
  void widen(std::size_t below, std::size_t above) {
    drain();
    const std::size_t wider = width_ + below + above;
    std::vector<std::int64_t> moved(classes_ * wider);
    for (std::size_t label = 0; label < classes_; ++label)
      std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(label * width_), width_,
                  moved.begin() + static_cast<std::ptrdiff_t>(label * wider + below));
    counts_ = std::move(moved);
    width_ = wider;
    choose_form();
  }

  // Adds a block of values, the first level being `lowest`. With `all_inside`, nothing is counted and false is
  // returned where a row that is kept lies outside the window; otherwise such a row is missing.
  template <class T>
  bool add(const T* values, T lowest, LabelBlock& labels, bool all_inside) {
    using Unsigned = std::make_unsigned_t<T>;
    if (width_ == 0) return true;
    const auto room = static_cast<Unsigned>(static_cast<Unsigned>(std::numeric_limits<T>::max()) - static_cast<Unsigned>(lowest));
    const auto last = width_ - 1 > room ? room : static_cast<Unsigned>(width_ - 1);
    const Window window{static_cast<Unsigned>(lowest), last};
    const std::size_t count = labels.count();
    if (form_ == Form::bytes) {
      const auto& offsets = labels.offsets<std::uint8_t>(width_);
      bytes_.resize(count);
      const bool outside = kernels_.byte_keys[place_of(sizeof(T))](values, count, window, offsets.offset.data(),
                                                                   offsets.keep.data(), 255, bytes_.data());
      if (all_inside && outside) return false;
      before_tally(count);
      kernels_.count_bytes(bytes_.data(), count, static_cast<unsigned>(cells()), tally_.data());
    } else if (form_ == Form::words) {
      const auto& offsets = labels.offsets<std::uint16_t>(width_);
      words_.resize(count);
      const bool outside = kernels_.word_keys[place_of(sizeof(T))](
          values, count, window, offsets.offset.data(), offsets.keep.data(), static_cast<std::uint16_t>(cells()), words_.data());
      if (all_inside && outside) return false;
      before_tally(count);
      tally_words(count);
    } else {
      if (all_inside)
        for (std::size_t i = 0; i < count; ++i)
          if (labels.kept(i) && static_cast<Unsigned>(static_cast<Unsigned>(values[i]) - static_cast<Unsigned>(lowest)) > last)
            return false;
      for (std::size_t i = 0; i < count; ++i) {
        const auto level = static_cast<Unsigned>(static_cast<Unsigned>(values[i]) - static_cast<Unsigned>(lowest));
        if (labels.kept(i) && level <= last) ++counts_[labels.label(i) * width_ + level];
      }
    }
    return true;
  }

  void drain() {
    const std::size_t stride = cells() + 1;
    for (std::size_t copy = 0; copy < copies_; ++copy)
      for (std::size_t cell = 0; cell < cells(); ++cell) counts_[cell] += tally_[copy * stride + cell];
    std::fill(tally_.begin(), tally_.end(), 0);
    tallied_ = 0;
  }

 private:
  enum class Form { bytes, words, in_place };

  std::size_t cells() const { return classes_ * width_; }

  void choose_form() {
    form_ = cells() <= kernels_.most_byte_cells ? Form::bytes : cells() < 65535 ? Form::words : Form::in_place;
    copies_ = form_ == Form::in_place ? 0 : form_ == Form::words && cells() <= 2048 ? 4 : 1;
    tally_.assign(copies_ * (cells() + 1), 0);
    tallied_ = 0;
  }

  void before_tally(std::size_t count) {
    if (tallied_ + count > flush_rows_) drain();
    tallied_ += count;
  }

  void tally_words(std::size_t count) {
    const std::uint16_t* keys = words_.data();
    std::uint32_t* tally = tally_.data();
    if (copies_ == 1) {
      for (std::size_t i = 0; i < count; ++i) ++tally[keys[i]];
      return;
    }
    const std::size_t stride = cells() + 1;
    std::uint32_t *second = tally + stride, *third = second + stride, *fourth = third + stride;
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      std::uint64_t four;
      std::memcpy(&four, keys + i, sizeof four);
      ++tally[four & 0xffff];
      ++second[four >> 16 & 0xffff];
      ++third[four >> 32 & 0xffff];
      ++fourth[four >> 48];
    }
    for (; i < count; ++i) ++tally[keys[i]];
  }

  std::size_t classes_;
  std::uint64_t flush_rows_;
  std::size_t width_ = 0;
  Form form_ = Form::in_place;
  std::size_t copies_ = 0;
  std::uint64_t tallied_ = 0;
  const TableKernels& kernels_ = table_kernels();
  std::vector<std::int64_t> counts_;
  std::vector<std::uint32_t> tally_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint16_t> words_;
};

}  // namespace bayesbox
