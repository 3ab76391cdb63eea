// Leave-one-out of a multinomial in closed form: the words of a document taken out of the counts of its class.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "text/log_shares.hpp"

namespace bayesbox {

// The words of documents as compressed rows, and what was counted of them with these documents among all others.
struct LeftOutWords {
  const std::int64_t* starts;
  const std::int32_t* words;
  const double* times;
  const std::int32_t* target;  // the class of each document
  std::size_t documents;
  const double* counts;  // words x classes; of a complement, those of all other classes
  const double* totals;  // classes: the sums of the counts of all words, also of those that no document here has
  const double* everywhere;  // words: how often each is there in all classes; none where all words stay
  std::size_t classes;
  double size;  // words in all
  double added;  // to each count
  bool complement;
};

// sums[document][label] = sum over words of times * (log(count + a) - log(total + a * size)), with the document's own words
// out of the counts of its class (of a complement, out of those of all others, and with the sign turned). A word that no
// other document has is not a word of the model then: it says nothing, and there is one word less. `known` is how many
// words were added up. False where a document has more of a word than was counted.
inline bool sum_left_out_words(const LeftOutWords& given, double* sums, double* known) {
  const std::size_t classes = given.classes;
  KnownLogs log;
  for (std::size_t row = 0; row < given.documents; ++row) {
    const auto first = static_cast<std::size_t>(given.starts[row]), last = static_cast<std::size_t>(given.starts[row + 1]);
    const auto own = static_cast<std::size_t>(given.target[row]);
    double* const sum = sums + row * classes;
    double all = 0, used = 0, size = given.size;
    poll(16 + 2 * classes * (last - first));
    for (std::size_t at = first; at < last; ++at) {
      const auto word = static_cast<std::size_t>(given.words[at]);
      const double times = given.times[at];
      const double* const count = given.counts + word * classes;
      all += times;
      if (times == 0) continue;
      const bool alone = given.everywhere != nullptr && given.everywhere[word] <= times;
      for (std::size_t label = 0; label < classes; ++label) {
        const double left = count[label] - ((label == own) != given.complement ? times : 0.0);
        if (left < 0) return false;
        if (!alone) sum[label] += times * log(left + given.added);
      }
      if (alone) size -= 1;
      else used += times;
    }
    for (std::size_t label = 0; label < classes; ++label) {
      const double total = given.totals[label] - ((label == own) != given.complement ? all : 0.0);
      if (used > 0) sum[label] -= used * log(total + given.added * size);
      if (given.complement) sum[label] = -sum[label];
    }
    known[row] = used;
  }
  return true;
}

// The mean log loss of documents with the strength t, its slope and its curvature by t: joint = prior + t * factor * sums,
// each less that of the true class. `losses` takes that of each document, if it is there.
struct StrengthLoss {
  double loss, slope, curvature;
};

inline StrengthLoss strength_loss(const double* sums, const double* factors, const double* prior, const std::int32_t* target,
                                  std::size_t documents, std::size_t classes, double strength, double* losses) {
  StrengthLoss found{0, 0, 0};
  std::vector<double> joint(classes), lead(classes);
  for (std::size_t row = 0; row < documents; ++row) {
    const auto own = static_cast<std::size_t>(target[row]);
    const double* const sum = sums + row * classes;
    poll(8 * classes);
    double best = 0;  // that of the true class
    for (std::size_t label = 0; label < classes; ++label) {
      lead[label] = factors[row] * (sum[label] - sum[own]);
      joint[label] = (prior[label] - prior[own]) + strength * lead[label];
      if (joint[label] > best) best = joint[label];
    }
    double total = 0, mean = 0, square = 0;
    for (std::size_t label = 0; label < classes; ++label) {
      const double gap = joint[label] - best;
      if (gap < -60) continue;  // below what a double adds up
      const double share = portable::exp(gap);
      total += share;
      mean += share * lead[label];
      square += share * lead[label] * lead[label];
    }
    mean /= total;
    const double loss = portable::log(total) + best;
    found.loss += loss;
    found.slope += mean;
    found.curvature += square / total - mean * mean;
    if (losses != nullptr) losses[row] = loss;
  }
  const auto rows = static_cast<double>(documents);
  return {found.loss / rows, found.slope / rows, found.curvature / rows};
}

// A number for each document that follows from its bytes alone, the same on every machine.
inline std::uint64_t text_key(const std::uint8_t* bytes, std::size_t length) {
  constexpr std::uint64_t kOne = 0x9E3779B97F4A7C15u, kOther = 0xD6E8FEB86659FD93u;
  const auto mixed = [](std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t state = kOne ^ length;
  for (std::size_t i = 0; i < length; i += 8) {
    std::uint64_t piece = 0;
    std::memcpy(&piece, bytes + i, std::min<std::size_t>(8, length - i));
    if constexpr (std::endian::native == std::endian::big) piece = __builtin_bswap64(piece);
    state = mixed(state ^ piece, kOther) + kOne;
  }
  return mixed(state ^ kOther, kOne);
}

}  // namespace bayesbox
