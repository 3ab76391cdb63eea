// Python bindings of approximate inference.
#include <memory>
#include <vector>

#include "bind/interrupt.hpp"
#include "bind/network.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "network/case_search.hpp"
#include "network/cut_model.hpp"
#include "network/gibbs.hpp"
#include "network/gibbs_blocks.hpp"
#include "network/likelihood_weighting.hpp"
#include "network/loopy.hpp"
#include "network/mean_field.hpp"

namespace bayesbox {
namespace {

using ModelPointer = std::shared_ptr<PyFactorModel>;

// states: one per variable, negative if it is hidden; likelihoods: None, or one for each state, read for soft variables.
CaseEvidence case_of(const PyFactorModel& model, nb::handle states, nb::handle soft, nb::handle likelihoods) {
  CaseEvidence evidence;
  const Buffer given(states, "states");
  given.need_dimensions(1).need_length(0, model.cards.size());
  for (const std::int64_t state : given.integers()) {
    if (state >= model.cards[evidence.states.size()]) given.refuse("no such state");
    evidence.states.push_back(state < 0 ? -1 : static_cast<std::int32_t>(state));
  }
  evidence.soft = mask_of(soft, "soft", model.cards.size());
  if (likelihoods.is_none()) {
    evidence.soft.assign(evidence.soft.size(), 0);
    return evidence;
  }
  const Buffer values(likelihoods, "likelihoods");
  values.need_dimensions(1).need_length(0, static_cast<std::size_t>(model.offsets.back()));
  evidence.likelihoods = values.doubles();
  return evidence;
}

std::vector<std::int32_t> variables_of(const PyFactorModel& model, nb::handle object, const char* what) {
  const Buffer buffer(object, what);
  std::vector<std::int32_t> variables;
  for (const std::int64_t v : buffer.need_dimensions(1).integers()) {
    if (v < 0 || v >= static_cast<std::int64_t>(model.cards.size())) buffer.refuse("no such variable");
    variables.push_back(static_cast<std::int32_t>(v));
  }
  return variables;
}

// Empty, or every variable once, and every table that of its variable.
std::vector<std::int32_t> order_of(const PyFactorModel& model, nb::handle object) {
  std::vector<std::int32_t> order = variables_of(model, object, "order");
  if (order.empty()) return order;
  std::vector<std::int32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool fits = sorted.size() == model.cards.size() && model.scopes.size() == sorted.size();
  for (std::size_t v = 0; fits && v < sorted.size(); ++v)
    fits = sorted[v] == static_cast<std::int32_t>(v) && !model.scopes[v].empty() && model.scopes[v].back() == sorted[v];
  if (!fits) throw nb::value_error("order: not that of a network with a table for each variable");
  return order;
}

nb::tuple py_loopy(const ModelPointer& model, nb::handle states, nb::handle soft, nb::handle likelihoods,
                   std::int64_t sweeps, double tolerance) {
  const CaseEvidence evidence = case_of(*model, states, soft, likelihoods);
  std::vector<double> posteriors(static_cast<std::size_t>(model->offsets.back()));
  LoopyResult result;
  {
    LongCall call;
    const CutModel cut(*model, evidence);
    LoopyPropagation loopy(cut);
    result = loopy.run(sweeps, tolerance);
    loopy.beliefs(posteriors.data());
  }
  const std::size_t width = posteriors.size();
  return nb::make_tuple(to_numpy(std::move(posteriors), {width}), result.log_evidence, result.residual, result.sweeps);
}

nb::tuple py_weighting(const ModelPointer& model, nb::handle states, nb::handle soft, nb::handle likelihoods,
                       nb::handle order, nb::handle wanted, std::int64_t samples, std::uint64_t seed,
                       std::size_t cells, std::size_t kept) {
  const CaseEvidence evidence = case_of(*model, states, soft, likelihoods);
  const std::vector<std::int32_t> nodes = order_of(*model, order);
  const Scope joint = variables_of(*model, wanted, "wanted");
  WeightedSums sums;
  {
    LongCall call;
    const CutModel cut(*model, evidence);
    sums = weigh_samples(cut, nodes, joint, samples, seed, cells, std::min<std::size_t>(kept, 1 << 20));
  }
  std::sort(sums.largest.begin(), sums.largest.end());
  const std::size_t width = sums.weights.size(), tail = sums.largest.size();
  return nb::make_tuple(to_numpy(std::move(sums.weights), {width}), to_numpy(std::move(sums.squares), {width}),
                        sums.total, sums.total_squares, sums.log_scale, to_numpy(std::move(sums.largest), {tail}));
}

nb::tuple py_gibbs(const ModelPointer& model, nb::handle states, nb::handle soft, nb::handle likelihoods,
                   nb::handle order, nb::handle wanted, std::int64_t chains, std::int64_t burn_in,
                   std::int64_t sweeps, std::uint64_t seed) {
  const CaseEvidence evidence = case_of(*model, states, soft, likelihoods);
  if (chains < 1 || sweeps < 1 || burn_in < 0) throw nb::value_error("chains and sweeps: at least one");
  const GibbsRequest request{order_of(*model, order), variables_of(*model, wanted, "wanted"), chains, burn_in, sweeps,
                             seed};
  GibbsResult result;
  {
    LongCall call;
    const CutModel cut(*model, evidence);
    result = GibbsSampler(cut).run(request);
  }
  if (!result.started) return nb::make_tuple(nb::none(), result.zeros, 0.0);
  const std::size_t rows = static_cast<std::size_t>(chains), width = result.means.size() / rows;
  return nb::make_tuple(to_numpy(std::move(result.means), {rows, width}), result.zeros, result.starts);
}

nb::tuple py_block_gibbs(const ModelPointer& model, nb::handle states, nb::handle soft, nb::handle likelihoods,
                         nb::handle order, nb::handle wanted, std::int64_t chains, std::int64_t burn_in,
                         std::int64_t sweeps, std::uint64_t seed, std::size_t cells) {
  const CaseEvidence evidence = case_of(*model, states, soft, likelihoods);
  if (chains < 1 || sweeps < 1 || burn_in < 0 || cells < 1) throw nb::value_error("chains, sweeps, cells: at least one");
  const GibbsRequest request{order_of(*model, order), variables_of(*model, wanted, "wanted"), chains, burn_in, sweeps,
                             seed};
  BlockGibbsResult result;
  {
    LongCall call;
    const CutModel cut(*model, evidence);
    result = BlockGibbsSampler(cut, cells).run(request);
  }
  if (!result.chains.started) return nb::make_tuple(nb::none(), result.blocks, result.largest);
  const std::size_t rows = static_cast<std::size_t>(chains), width = result.chains.means.size() / rows;
  return nb::make_tuple(to_numpy(std::move(result.chains.means), {rows, width}), result.blocks, result.largest);
}

nb::tuple py_mean_field(const ModelPointer& model, nb::handle states, nb::handle soft, nb::handle likelihoods,
                        nb::handle order, std::int64_t sweeps, double tolerance, std::uint64_t seed) {
  const CaseEvidence evidence = case_of(*model, states, soft, likelihoods);
  const std::vector<std::int32_t> nodes = order_of(*model, order);
  std::vector<double> beliefs;
  MeanFieldResult result;
  {
    LongCall call;
    const CutModel cut(*model, evidence);
    result = mean_field(cut, nodes, sweeps, tolerance, seed, beliefs);
  }
  if (beliefs.empty() && model->offsets.back() > 0) return nb::make_tuple(nb::none(), result.bound, 0.0, 0);
  const std::size_t width = beliefs.size();
  return nb::make_tuple(to_numpy(std::move(beliefs), {width}), result.bound, result.change, result.sweeps);
}

// A search and its model: kept together since one refers to the other.
class PyCaseSearch {
 public:
  PyCaseSearch(ModelPointer model, nb::handle states, nb::handle soft, nb::handle likelihoods, std::size_t cells,
               std::size_t bound_cells)
      : model_(std::move(model)) {
    const CaseEvidence evidence = case_of(*model_, states, soft, likelihoods);
    if (cells < 1 || bound_cells < 1) throw nb::value_error("cells: at least one");
    LongCall call;
    cut_ = std::make_unique<CutModel>(*model_, evidence);
    search_ = std::make_unique<CaseSearch>(*cut_, cells, bound_cells);
  }

  nb::object variables() const {
    std::vector<std::int64_t> found(search_->variables().begin(), search_->variables().end());
    const std::size_t count = found.size();
    return nb::cast(to_numpy(std::move(found), {count}));
  }
  // The states of up to `count` cases, concatenated.
  nb::object next(std::size_t count) {
    std::vector<std::int32_t> states;
    std::size_t rows = 0;
    {
      LongCall call;
      for (; rows < count && !search_->done(); ++rows) {
        const std::vector<std::int32_t> found = search_->next();
        if (found.size() < search_->variables().size()) break;
        states.insert(states.end(), found.begin(), found.end());
      }
    }
    return nb::cast(to_numpy(std::move(states), {rows, search_->variables().size()}));
  }
  double log_rest() const { return search_->log_rest(); }

 private:
  ModelPointer model_;
  std::unique_ptr<CutModel> cut_;
  std::unique_ptr<CaseSearch> search_;
};

}  // namespace

void register_approximate(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PyCaseSearch>(m, "CaseSearch")
      .def(nb::init<ModelPointer, nb::handle, nb::handle, nb::handle, std::size_t, std::size_t>(), "model"_a, "states"_a,
           "soft"_a, "likelihoods"_a.none(), "cells"_a, "bound_cells"_a)
      .def_prop_ro("variables", &PyCaseSearch::variables)
      .def("next", &PyCaseSearch::next, "count"_a)
      .def("log_rest", &PyCaseSearch::log_rest);
  m.def("loopy_posteriors", &py_loopy, "model"_a, "states"_a, "soft"_a, "likelihoods"_a.none(), "sweeps"_a,
        "tolerance"_a);
  m.def("weighted_samples", &py_weighting, "model"_a, "states"_a, "soft"_a, "likelihoods"_a.none(), "order"_a,
        "wanted"_a, "samples"_a, "seed"_a, "cells"_a, "kept"_a = 0);
  m.def("gibbs_means", &py_gibbs, "model"_a, "states"_a, "soft"_a, "likelihoods"_a.none(), "order"_a, "wanted"_a,
        "chains"_a, "burn_in"_a, "sweeps"_a, "seed"_a);
  m.def("block_gibbs_means", &py_block_gibbs, "model"_a, "states"_a, "soft"_a, "likelihoods"_a.none(), "order"_a,
        "wanted"_a, "chains"_a, "burn_in"_a, "sweeps"_a, "seed"_a, "cells"_a);
  m.def("mean_field", &py_mean_field, "model"_a, "states"_a, "soft"_a, "likelihoods"_a.none(), "order"_a, "sweeps"_a,
        "tolerance"_a, "seed"_a);
}

}  // namespace bayesbox
