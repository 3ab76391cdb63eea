// The inner loops of a tree over the cells of the grid (table/cell_tree.hpp), compiled like those of kernels.hpp and under the
// same precautions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernel_set.hpp"
#include "core/kernels.hpp"

namespace bayesbox {

inline constexpr double kManyDegrees = 200;
inline constexpr double kFarTail = 1200;  // of a square over so many degrees, beyond which a tail is below 1e-290: it counts as 0

// What the tails of Student's t are worked out from: see table/student_below.hpp.
struct StudentTail {
  static constexpr std::size_t kMostTerms = 101;
  double df = 0;
  double many = 0;         // df + 2 terms, more than kManyDegrees
  std::size_t terms = 0;
  double front = 0;        // what x^(df / 2) sqrt(1 - x) is multiplied by in the first term
  double term[kMostTerms];  // the others by the powers of x, over the first
};

// The nodes of a tree that are halved, each before its halves; `count` is a multiple of kPad, with nodes that are not read behind
// the last. Of what there is for each half there are first those below the middles, then those above, then the whole line.
struct CellNodes {
  std::size_t count;
  const std::uint32_t *low, *high;  // the places of the tails at their ends; that at its middle is 2 behind that of the node
  const std::uint32_t* half;        // which half each node is
};

// The t of one class.
struct StudentLine {
  double shift = 0, scale = 1, df = 3;
};

struct CellTreeKernels {
  // out[i] = (places[i] - shift) / scale; `count` is a multiple of kPad
  void (*distances)(const double* places, std::size_t count, const StudentLine& line, double* out);
  // P(T < z), or -P(T > z) above 0, with the sign of zeros; right to about 1e-13. `count` is a multiple of kPad.
  void (*student_tails)(const double* z, std::size_t count, const StudentTail& tail, double* out);
  // The masses of all halves, as differences of tails.
  void (*half_masses)(const double* tails, const CellNodes& nodes, double* masses);
  // The masses of narrow pieces by their centres and widths, as mass_around in table/cell_tree.hpp; `count` is a multiple of kPad.
  void (*narrow_masses)(const double* centres, const double* widths, std::size_t count, const StudentLine& line, double log_height,
                        double* masses);
  // sums[i] += values[i] * factor; `count` is a multiple of kPad
  void (*add_times)(const double* values, std::size_t count, double factor, double* sums);
  // What the mass of each half, and that of its other half, is multiplied by after the counts of all classes.
  void (*pooled_ratios)(const CellNodes& nodes, const double* masses, const double* counts, double* up, double* other);
  // What the t of a class is multiplied by in each half, more than in its node. `counts` are null for the class of no rows.
  void (*class_ratios)(const CellNodes& nodes, const double* masses, const double* counts, const double* up, const double* other,
                       double* ratios);
};

template <>
const CellTreeKernels& baseline_set<CellTreeKernels>();
template <>
const CellTreeKernels& avx2_set<CellTreeKernels>();
template <>
const CellTreeKernels& avx512_set<CellTreeKernels>();
template <>
inline constexpr bool kHasAvx512Set<CellTreeKernels> = true;

inline const CellTreeKernels& cell_tree_kernels() { return kernel_set<CellTreeKernels>(); }

// The Polya tree: see bayesbox/dist/number/cell_tree.py.
inline constexpr double kPooledRows = 1.0;       // what the t of all classes is worth in the root, against the counts of all
inline constexpr double kClassRows = 16.0;       // what the corrected t of a class is worth there, against its own counts
inline constexpr double kLeastMass = 1e-7;       // of each half of a node, for doubles to tell it
inline constexpr double kLeastShare = 0x1p-1022;  // of a half without values

}  // namespace bayesbox
