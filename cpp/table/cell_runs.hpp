// The parts of the line in which the robust density of a column is a t times a number, as a scorer needs them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/elementary.hpp"
#include "table/cell_density.hpp"
#include "table/cell_parts.hpp"

namespace bayesbox {

struct CellRuns {
  std::vector<std::int64_t> starts;   // the first key of each part, ascending; the first from the least number on
  std::vector<double> log_ratios;     // parts x (classes and that of no rows): the log of what each t is multiplied by
  std::vector<double> heights;        // (classes and that of no rows) x parts: the same with `added`
  std::vector<double> ratios;         // classes x parts: the heights over that of no rows, no logs
  std::int32_t least_size = 0;
  std::vector<std::uint16_t> run_of;  // of cells from the least size on: see cell_density.hpp
};

// The run of each cell whose size is one at which a run begins, or next to it.
inline void find_run_of(CellRuns& runs) {
  std::int32_t least = kCellSizes, most = 0;
  for (std::size_t k = 1; k < runs.starts.size(); ++k) {
    const auto size = static_cast<std::int32_t>(std::abs(runs.starts[k]));  // it begins between this size and the one below
    if (size == 0 || size >= CellTree::kLastKey) continue;
    least = std::min(least, size - 1);
    most = std::max(most, size);
  }
  if (least > most) least = most = 0;
  runs.least_size = least;
  std::size_t run = 0;
  const auto push = [&](std::int64_t key) {
    while (run + 1 < runs.starts.size() && runs.starts[run + 1] <= key) ++run;
    runs.run_of.push_back(static_cast<std::uint16_t>(run));
  };
  for (std::int32_t size = most; size >= least; --size) push(-1 - size);
  for (std::int32_t size = least; size <= most; ++size) push(size);
}

// `added` are three rows of what is added to the logs, one after the other.
inline CellRuns cell_runs(CellParts& found_parts, const CellCounts& cells, const StudentLine* lines, const CellPlace& place,
                          const double* const* added) {
  found_parts.find(cells, lines, place);
  const std::size_t width = found_parts.classes() + 1;
  const std::vector<std::int64_t>& starts = found_parts.starts();
  std::vector<std::uint8_t> differs(starts.size(), 0);  // from the part before
  differs[0] = 1;
  for (std::size_t c = 0; c < width; ++c) {
    const double* own = found_parts.log_ratios(c);
    for (std::size_t k = 1; k < starts.size(); ++k) differs[k] |= own[k] != own[k - 1];
  }
  std::vector<std::size_t> kept;  // neighbours that are alike are one
  for (std::size_t k = 0; k < starts.size(); ++k)
    if (differs[k] != 0) kept.push_back(k);
  const std::size_t parts = kept.size();
  CellRuns found;
  for (const std::size_t k : kept) found.starts.push_back(starts[k]);
  found.log_ratios.resize(width * parts);
  found.heights.resize(width * parts);
  for (std::size_t c = 0; c < width; ++c) {
    const double* own = found_parts.log_ratios(c);
    for (std::size_t k = 0; k < parts; ++k) {
      const double log = own[kept[k]];
      found.log_ratios[k * width + c] = log;
      found.heights[c * parts + k] = ((log + added[0][c]) + added[1][c]) + added[2][c];
    }
  }
  const double* common = found.heights.data() + (width - 1) * parts;
  found.ratios.resize((width - 1) * parts);
  for (std::size_t c = 0; c + 1 < width; ++c)
    for (std::size_t k = 0; k < parts; ++k) found.ratios[c * parts + k] = found.heights[c * parts + k] - common[k];
  natural_exponentials(found.ratios);
  find_run_of(found);
  return found;
}

}  // namespace bayesbox
