// Python bindings of chain.hpp.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "chain/chain.hpp"

namespace bayesbox {
namespace {

// A chain's arguments, checked, and held during a call.
class ChainArguments {
 public:
  ChainArguments(nb::handle log_start, nb::handle log_transition, nb::handle log_terms, nb::handle codes,
                 nb::handle offsets)
      : given_terms_(log_terms, "log_terms") {
    const Buffer start(log_start, "log_start"), transition(log_transition, "log_transition");
    const Buffer& terms = given_terms_;
    request.states = start.need_dimensions(1).need_kind(Kind::float64, "float64").length(0);
    if (request.states == 0) start.refuse("no state");
    transition.need_dimensions(2).need_kind(Kind::float64, "float64");
    transition.need_length(0, request.states).need_length(1, request.states);
    terms.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(1, request.states);
    request.terms = terms.length(0);
    start_ = start.doubles(), transition_ = transition.doubles();
    request.log_start = start_.data(), request.log_transition = transition_.data();
    request.log_terms = terms.doubles_in_place();
    if (request.log_terms == nullptr) terms_ = terms.doubles(), request.log_terms = terms_.data();
    check(start, request.log_start, request.states);
    check(transition, request.log_transition, request.states * request.states);
    check(terms, request.log_terms, request.terms * request.states);
    read_codes(codes);
    read_offsets(offsets);
  }
  ChainRequest request;
  std::size_t steps = 0;

 private:
  // Logarithms that are neither plus infinity nor NaN.
  static void check(const Buffer& buffer, const double* values, std::size_t count) {
    bool good = true;
    for (std::size_t i = 0; i < count; ++i) good &= values[i] < std::numeric_limits<double>::infinity();
    if (!good) buffer.refuse("NaN or infinite");
  }
  void read_codes(nb::handle codes) {
    if (codes.is_none()) {
      steps = request.terms;
      return;
    }
    const Buffer buffer(codes, "codes");
    const Column column = buffer.need_dimensions(1).need_kind(Kind::int32, "int32").column();
    steps = column.rows;
    codes_.resize(steps + 1);  // so that there is a place to point to
    bool inside = true;
    for (std::size_t t = 0; t < steps; ++t) {
      codes_[t] = bayesbox::load<std::int32_t>(column.at(t));
      inside &= codes_[t] >= 0 && static_cast<std::size_t>(codes_[t]) < request.terms;
    }
    if (!inside) buffer.refuse("outside the terms");
    request.codes = codes_.data();
  }
  void read_offsets(nb::handle offsets) {
    const Buffer buffer(offsets, "offsets");
    offsets_ = buffer.need_dimensions(1).integers();
    if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != static_cast<std::int64_t>(steps))
      buffer.refuse("must go from 0 to the number of steps");
    for (std::size_t i = 1; i < offsets_.size(); ++i)
      if (offsets_[i] < offsets_[i - 1]) buffer.refuse("not ascending");
    request.offsets = offsets_.data();
    request.sequences = offsets_.size() - 1;
  }

  Buffer given_terms_;  // read where they are: they may be as many as there are steps
  std::vector<double> start_, transition_, terms_;
  std::vector<std::int32_t> codes_;
  std::vector<std::int64_t> offsets_;
};

std::size_t threads_of(std::int64_t threads) {
  return static_cast<std::size_t>(std::max<std::int64_t>(threads, 1));
}

nb::object py_chain_score(nb::handle log_start, nb::handle log_transition, nb::handle log_terms,
                          nb::handle codes, nb::handle offsets, std::int64_t threads) {
  const ChainArguments given(log_start, log_transition, log_terms, codes, offsets);
  std::vector<double> log_likelihood(given.request.sequences);
  {
    LongCall call;
    ChainResult result;
    result.log_likelihood = log_likelihood.data();
    forward_backward(given.request, result, threads_of(threads));
  }
  return to_numpy(std::move(log_likelihood), {given.request.sequences});
}

nb::tuple py_chain_posterior(nb::handle log_start, nb::handle log_transition, nb::handle log_terms,
                             nb::handle codes, nb::handle offsets, bool filtered, std::int64_t threads) {
  const ChainArguments given(log_start, log_transition, log_terms, codes, offsets);
  std::vector<double> log_likelihood(given.request.sequences);
  ResultArray<double> rows(given.steps * given.request.states);  // every one of them is written
  {
    LongCall call;
    ChainResult result;
    result.log_likelihood = log_likelihood.data();
    (filtered ? result.filtered : result.posterior) = rows.data();
    forward_backward(given.request, result, threads_of(threads));
  }
  return nb::make_tuple(to_numpy(std::move(log_likelihood), {given.request.sequences}),
                        std::move(rows).to_numpy({given.steps, given.request.states}));
}

nb::tuple py_chain_expect(nb::handle log_start, nb::handle log_transition, nb::handle log_terms,
                          nb::handle codes, nb::handle offsets, std::int64_t threads) {
  const ChainArguments given(log_start, log_transition, log_terms, codes, offsets);
  const std::size_t states = given.request.states, terms = given.request.terms;
  std::vector<double> log_likelihood(given.request.sequences), start(states), transition(states * states);
  std::vector<double> emission(terms * states);
  {
    LongCall call;
    ChainResult result;
    result.log_likelihood = log_likelihood.data();
    result.start = start.data(), result.transition = transition.data(), result.emission = emission.data();
    forward_backward(given.request, result, threads_of(threads));
  }
  return nb::make_tuple(to_numpy(std::move(log_likelihood), {given.request.sequences}),
                        to_numpy(std::move(start), {states}), to_numpy(std::move(transition), {states, states}),
                        to_numpy(std::move(emission), {terms, states}));
}

nb::tuple py_chain_best(nb::handle log_start, nb::handle log_transition, nb::handle log_terms, nb::handle codes,
                        nb::handle offsets, std::int64_t threads) {
  const ChainArguments given(log_start, log_transition, log_terms, codes, offsets);
  std::vector<double> log_p(given.request.sequences);
  ResultArray<std::int32_t> path(given.steps);
  {
    LongCall call;
    best_paths(given.request, log_p.data(), path.data(), threads_of(threads));
  }
  return nb::make_tuple(to_numpy(std::move(log_p), {given.request.sequences}),
                        std::move(path).to_numpy({given.steps}));
}

}  // namespace

void register_chain(nb::module_& m) {
  using namespace nb::literals;
  m.def("chain_score", &py_chain_score, "log_start"_a, "log_transition"_a, "log_terms"_a, "codes"_a.none(),
        "offsets"_a, "threads"_a = 1);
  m.def("chain_posterior", &py_chain_posterior, "log_start"_a, "log_transition"_a, "log_terms"_a, "codes"_a.none(),
        "offsets"_a, "filtered"_a = false, "threads"_a = 1);
  m.def("chain_expect", &py_chain_expect, "log_start"_a, "log_transition"_a, "log_terms"_a, "codes"_a.none(),
        "offsets"_a, "threads"_a = 1);
  m.def("chain_best", &py_chain_best, "log_start"_a, "log_transition"_a, "log_terms"_a, "codes"_a.none(), "offsets"_a,
        "threads"_a = 1);
}

}  // namespace bayesbox
