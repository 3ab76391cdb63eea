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
  std::size_t classes = 0;
  bool is_log = false;
  double base = 0;
  std::vector<std::int64_t> starts;   // the first key of each part, ascending; the first from the least number on
  std::vector<double> log_ratios;     // (classes and that of no rows) x parts: the log of what each t is multiplied by
  std::vector<double> added;          // 3 x (classes and that of no rows): what is added to it, one after the other
  std::vector<double> ratios;         // classes x parts: the sums over that of no rows, no logs
  std::vector<double> parameters;     // (classes and that of no rows) x (shift, scale, df)
  std::vector<double> zeros;          // the log-probability of zero in each class, where that is apart
  std::int32_t least_size = 0;
  std::vector<std::uint16_t> run_of;  // of cells from the least size on: see cell_density.hpp

  CellDensity density(bool zero_apart) const {
    return {classes, is_log, base, run_of.data(), least_size, run_of.size() / 2, starts.size(), log_ratios.data(), added.data(),
            ratios.data(), parameters.data(), zero_apart && !zeros.empty() ? zeros.data() : nullptr};
  }
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
  const std::int64_t sizes = most - least + 1;
  runs.run_of.resize(2 * static_cast<std::size_t>(sizes));
  // The place of the first key from this one on: negative keys first, then the others.
  const auto place = [&](std::int64_t key) {
    return key < 0 ? std::clamp<std::int64_t>(key + 1 + most, 0, sizes) : sizes + std::clamp<std::int64_t>(key - least, 0, sizes);
  };
  for (std::size_t run = 0, count = runs.starts.size(); run < count; ++run) {
    const std::int64_t begin = run == 0 ? 0 : place(runs.starts[run]), end = run + 1 < count ? place(runs.starts[run + 1]) : 2 * sizes;
    std::fill(runs.run_of.begin() + begin, runs.run_of.begin() + end, static_cast<std::uint16_t>(run));
  }
}

// Finds the parts of a column of which all else is given.
inline void find_parts(CellParts& parts, const CellCounts& cells, CellRuns& found) {
  const std::size_t width = found.classes + 1;
  std::vector<StudentLine> lines(width);
  for (std::size_t c = 0; c < width; ++c) lines[c] = {found.parameters[3 * c], found.parameters[3 * c + 1], found.parameters[3 * c + 2]};
  parts.find(cells, lines.data(), {found.is_log, found.base, 0, 1});
  const std::vector<std::int64_t>& starts = parts.starts();
  std::vector<std::uint8_t> differs(starts.size(), 0);  // from the part before
  differs[0] = 1;
  for (std::size_t c = 0; c < width; ++c) {
    const double* own = parts.log_ratios(c);
    for (std::size_t k = 1; k < starts.size(); ++k) differs[k] |= own[k] != own[k - 1];
  }
  std::vector<std::size_t> kept;  // neighbours that are alike are one
  kept.reserve(starts.size());
  for (std::size_t k = 0; k < starts.size(); ++k)
    if (differs[k] != 0) kept.push_back(k);
  found.starts.reserve(kept.size());
  for (const std::size_t k : kept) found.starts.push_back(starts[k]);
  found.log_ratios.resize(width * kept.size());
  found.ratios.resize(found.classes * kept.size());
  find_run_of(found);
  const CellDensity density = found.density(false);
  std::vector<double> common(kept.size());
  for (std::size_t c = width; c-- > 0;) {
    const double* own = parts.log_ratios(c);
    for (std::size_t k = 0; k < kept.size(); ++k) found.log_ratios[c * kept.size() + k] = own[kept[k]];
    double* ratios = c == found.classes ? common.data() : found.ratios.data() + c * kept.size();
    for (std::size_t k = 0; k < kept.size(); ++k) ratios[k] = density.height(c, k);
    if (c == found.classes) continue;
    for (std::size_t k = 0; k < kept.size(); ++k) ratios[k] -= common[k];
    natural_exponentials(ratios, kept.size());
  }
}

}  // namespace bayesbox
