// Shared by the bindings of networks: models, and lists of variables.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bind/buffer.hpp"
#include "network/elimination.hpp"
#include "network/factor_model.hpp"
#include "network/junction_scratch.hpp"

namespace bayesbox {

// Lists of variables from a concatenated list and where each ends.
inline std::vector<Scope> scopes_of(nb::handle members, nb::handle ends, std::size_t variables) {
  const std::vector<std::int64_t> flat = Buffer(members, "members").integers();
  const std::vector<std::int64_t> stops = Buffer(ends, "ends").integers();
  std::vector<Scope> scopes;
  std::int64_t begin = 0;
  for (const std::int64_t end : stops) {
    if (end < begin || end > static_cast<std::int64_t>(flat.size())) throw nb::value_error("ends: not ascending");
    Scope scope;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t v = flat[static_cast<std::size_t>(i)];
      if (v < 0 || v >= static_cast<std::int64_t>(variables)) throw nb::value_error("members: no such variable");
      scope.push_back(static_cast<std::int32_t>(v));
    }
    scopes.push_back(std::move(scope));
    begin = end;
  }
  return scopes;
}

inline std::vector<std::int64_t> cards_of(nb::handle object) {
  std::vector<std::int64_t> cards = Buffer(object, "cards").integers();
  for (const std::int64_t card : cards)
    if (card < 1) throw nb::value_error("cards: a variable without a state");
  return cards;
}

inline std::vector<char> mask_of(nb::handle object, const char* what, std::size_t count) {
  const Buffer buffer(object, what);
  buffer.need_dimensions(1).need_length(0, count);
  const std::vector<std::int64_t> values = buffer.integers();
  return {values.begin(), values.end()};
}

// A model, and the working tables of the last run: taken and given back under the GIL, so that no run waits for another.
struct PyFactorModel : FactorModel {
  std::unique_ptr<JunctionScratch> spare;
};

}  // namespace bayesbox
