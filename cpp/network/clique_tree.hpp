// The cliques of an elimination order, joined to a tree (a forest where the variables fall apart).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "network/elimination.hpp"

namespace bayesbox {

struct CliqueScope {
  Scope variables;  // those shared with the parent first
  std::size_t shared = 0;
  std::ptrdiff_t parent = -1;
  std::vector<std::size_t> children;
};

// `variables` counts those of the model, of which the order may leave some out. Children come before their parents.
inline std::vector<CliqueScope> clique_tree(const Elimination& found, std::size_t variables) {
  const std::size_t count = found.order.size();
  std::vector<std::size_t> turn(variables, 0);
  for (std::size_t i = 0; i < count; ++i) turn[static_cast<std::size_t>(found.order[i])] = i;
  std::vector<std::ptrdiff_t> above(count, -1);
  for (std::size_t i = 0; i < count; ++i)
    for (const std::int32_t u : found.neighbours[i]) {
      const auto at = static_cast<std::ptrdiff_t>(turn[static_cast<std::size_t>(u)]);
      if (above[i] < 0 || at < above[i]) above[i] = at;
    }
  // A clique that lies within one below it is taken into that one.
  std::vector<std::size_t> keeper(count);
  for (std::size_t i = 0; i < count; ++i) keeper[i] = i;
  for (std::size_t i = 0; i < count; ++i) {
    if (above[i] < 0) continue;
    const auto j = static_cast<std::size_t>(above[i]);
    if (keeper[j] == j && found.neighbours[i].size() == found.neighbours[j].size() + 1) keeper[j] = keeper[i];
  }
  std::vector<std::size_t> place(count, 0), kept;
  for (std::size_t i = 0; i < count; ++i)
    if (keeper[i] == i) {
      place[i] = kept.size();
      kept.push_back(i);
    }
  std::vector<CliqueScope> cliques(kept.size());
  std::vector<Scope> members(kept.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const std::size_t i = kept[k];
    std::ptrdiff_t up = above[i];
    while (up >= 0 && keeper[static_cast<std::size_t>(up)] == i) up = above[static_cast<std::size_t>(up)];
    members[k] = found.neighbours[i];
    members[k].push_back(found.order[i]);
    if (up >= 0) {
      cliques[k].parent = static_cast<std::ptrdiff_t>(place[keeper[static_cast<std::size_t>(up)]]);
      cliques[static_cast<std::size_t>(cliques[k].parent)].children.push_back(k);
    }
  }
  std::vector<char> in_parent(variables, 0);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    CliqueScope& clique = cliques[k];
    static const Scope kNone;
    const Scope& parent = clique.parent >= 0 ? members[static_cast<std::size_t>(clique.parent)] : kNone;
    for (const std::int32_t v : parent) in_parent[static_cast<std::size_t>(v)] = 1;
    std::sort(members[k].begin(), members[k].end(), [&](std::int32_t a, std::int32_t b) {
      return turn[static_cast<std::size_t>(a)] > turn[static_cast<std::size_t>(b)];
    });
    Scope own;
    for (const std::int32_t v : members[k])
      (in_parent[static_cast<std::size_t>(v)] ? clique.variables : own).push_back(v);
    for (const std::int32_t v : parent) in_parent[static_cast<std::size_t>(v)] = 0;
    clique.shared = clique.variables.size();
    clique.variables.insert(clique.variables.end(), own.begin(), own.end());
  }
  return cliques;
}

}  // namespace bayesbox
