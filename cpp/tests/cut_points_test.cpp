#include "table/cut_points.hpp"

#include <limits>

#include "table/level_groups.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

std::vector<double> random_counts(std::mt19937_64& random, std::size_t values, std::size_t classes) {
  std::vector<double> counts(values * classes);
  for (auto& count : counts) count = static_cast<double>(random() % 9);
  return counts;
}

std::vector<std::size_t> bounds_of(const std::vector<std::int64_t>& cuts, std::size_t values) {
  std::vector<std::size_t> bounds = {0};
  for (const std::int64_t cut : cuts) bounds.push_back(static_cast<std::size_t>(cut) + 1);
  bounds.push_back(values);
  return bounds;
}

TEST(modl_is_the_cheapest_partition) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 30; ++round) {
    const std::size_t values = 1 + random() % 9;
    const std::vector<double> cells = random_counts(random, values, 3);
    const RunningCounts counts(cells.data(), values, 3);
    if (counts.total(0, values) == 0) continue;
    const Modl modl(counts);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t mask = 0; mask < std::size_t{1} << (values - 1); ++mask) {
      std::vector<std::int64_t> cuts;
      for (std::size_t k = 0; k + 1 < values; ++k)
        if (mask >> k & 1) cuts.push_back(static_cast<std::int64_t>(k));
      least = std::min(least, modl.cost(bounds_of(cuts, values)));
    }
    CHECK(modl.cost(bounds_of(modl.cuts(), values)) <= least + 1e-9);
  }
}

// More runs than are searched exactly: the shortcut may not lose against no cut at all, nor against halves.
TEST(modl_of_many_values) {
  std::mt19937_64 random(32);
  const std::size_t values = 3000;
  std::vector<double> cells(values * 2);
  for (std::size_t v = 0; v < values; ++v) {
    const bool second = (v > values / 2) != (random() % 10 == 0);
    cells[v * 2 + (second ? 1 : 0)] = 1;
  }
  const RunningCounts counts(cells.data(), values, 2);
  const Modl modl(counts);
  const double cost = modl.cost(bounds_of(modl.cuts(), values));
  CHECK(cost <= modl.cost({0, values}));
  CHECK(cost <= modl.cost({0, values / 2 + 1, values}) + 1e-9);
}

TEST(mdl_cuts_of_pure_halves) {
  std::vector<double> cells(40, 0.0);
  for (std::size_t v = 0; v < 20; ++v) cells[v * 2 + (v < 10 ? 0 : 1)] = 3;
  CHECK(mdl_cuts(RunningCounts(cells.data(), 20, 2)) == std::vector<std::int64_t>{9});
  CHECK(mdl_cuts(RunningCounts(cells.data(), 1, 2)).empty());
  CHECK(mdl_cuts(RunningCounts(cells.data(), 0, 2)).empty());
}

TEST(modl_groups_of_any_size) {
  std::mt19937_64 random(33);
  for (const std::size_t levels : {0, 1, 2, 10, 11, 60, 600}) {
    const std::vector<std::int32_t> groups = ModlGroups(random_counts(random, levels, 3), levels, 3).groups();
    CHECK(groups.size() == levels);
    std::int32_t next = 0;  // numbered as they come
    for (const std::int32_t group : groups) {
      CHECK(group <= next);
      next = std::max(next, group + 1);
    }
  }
}

}  // namespace
}  // namespace bayesbox::test
