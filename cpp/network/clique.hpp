// A clique of a junction tree: what its table is made of, and the message that it sends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/simd4.hpp"
#include "network/elimination.hpp"
#include "network/index_map.hpp"
#include "network/scaling.hpp"

namespace bayesbox {

// A table of the model with the observed variables cut out.
struct CutTable {
  std::size_t factor = 0;
  std::vector<std::pair<std::int32_t, std::int64_t>> observed;  // variable, stride
  IndexMap map;
  Extent extent;

  std::int64_t place(const std::int32_t* states) const {
    std::int64_t place = 0;
    for (const auto& [variable, stride] : observed) place += stride * states[variable];
    return place;
  }
};
struct SoftTable {
  std::int32_t variable;
  IndexMap map;
};
struct Clique {
  Scope variables;  // those shared with the parent first
  std::size_t shared = 0;
  std::int64_t cells = 1, start = 0, separator_cells = 1, separator_start = 0;
  std::ptrdiff_t parent = -1;
  std::int64_t part = 1;              // the number of cells processed at a time
  std::vector<std::size_t> heirs;     // all cliques below
  std::vector<std::size_t> children;  // those whose messages change from run to run
  bool settled = false;               // nothing below it is observed: its message is always the same
  // A clique with the same parent whose separator holds all of this one's: messages go by way of that, which is smaller
  // than the parent's table.
  std::ptrdiff_t host = -1;
  std::vector<std::size_t> guests;
  // With a guide, a table that is mostly zero, only cells that are not zero in it are held: for each such cell of the
  // guide those of the variables it lacks. Else all are, and those of a state of the separator follow one another.
  std::ptrdiff_t guide = -1;
  Scope lacking;
  IndexMap to_separator;
  IndexMap from_parent;  // or from the separator of the host
  std::vector<CutTable> cuts;
  std::vector<SoftTable> soft;
  Extent extent{1.0, 1.0};  // of the base table
};
struct Marginal {
  std::int32_t variable;
  std::size_t clique;
  bool of_separator;
  IndexMap map;
};

// The extent of a table after it will have been multiplied; the table is rescaled first where cells could vanish.
inline Extent watched(double* table, std::int64_t cells, const Extent& now, const Extent& factor, LogProduct& scales) {
  const Extent after = now.times(factor);
  if (!after.risky()) return after;
  Extent found = Extent::of(table, cells);
  if (found.most > 0) {
    for (std::int64_t i = 0; i < cells; ++i) table[i] /= found.most;
    scales.multiply(found.most);
    found = {found.least / found.most, 1.0};
  }
  return found.times(factor);
}

// Adds up a part of a clique's table, from the cell `first` on, for the message to its parent; first things first.
inline void send_part(const Clique& clique, const double* table, std::int64_t first, double* message) {
  if (clique.guide >= 0) {
    std::fill_n(message, clique.separator_cells, 0.0);
    return clique.to_separator.sum(message, table);
  }
  const std::int64_t rest = clique.cells / clique.separator_cells;
  message += first / rest;
  if (rest > clique.part) {
    *message = (first % rest == 0 ? 0.0 : *message) + total_of(table, clique.part);
    return;
  }
  for_length(rest, [=, rows = clique.part / rest](auto length) {
    for (std::int64_t s = 0; s < rows; ++s) message[s] = total_of(table + s * length(), length());
  });
}
// The message of a whole table, which sums to 1; returns what it summed to before.
inline double send(const Clique& clique, const double* table, double* message) {
  for (std::int64_t first = 0; first < clique.cells; first += clique.part) {
    poll(static_cast<std::size_t>(clique.part));
    send_part(clique, table + first, first, message);
  }
  return scale_to_one(message, clique.separator_cells);
}

}  // namespace bayesbox
