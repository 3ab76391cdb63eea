// Python bindings of networks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bind/arguments.hpp"
#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/junction.hpp"
#include "bind/network.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "core/threads.hpp"
#include "network/cutset.hpp"
#include "network/elimination.hpp"
#include "network/possible_states.hpp"

namespace bayesbox {
namespace {

std::vector<std::int32_t> stages_of(nb::handle stage, std::size_t count) {
  const std::vector<std::int64_t> given = Buffer(stage, "stage").integers();
  if (given.size() != count) throw nb::value_error("stage: one a variable");
  for (const std::int64_t each : given)  // every stage up to the last is used
    if (each < -1 || each > static_cast<std::int64_t>(given.size())) throw nb::value_error("stage: -1, or at most one a variable");
  return {given.begin(), given.end()};
}

nb::tuple py_elimination_order(nb::handle cards, nb::handle members, nb::handle ends, nb::handle stage) {
  const std::vector<std::int64_t> sizes = cards_of(cards);
  const std::vector<Scope> scopes = scopes_of(members, ends, sizes.size());
  std::vector<std::int32_t> stages = stages_of(stage, sizes.size());
  Elimination found;
  {
    LongCall call;
    found = Eliminator(sizes, scopes, std::move(stages)).best();
  }
  const std::size_t count = found.order.size();
  return nb::make_tuple(to_numpy(std::move(found.order), {count}), found.log2_cells);
}

nb::tuple py_cutset(nb::handle cards, nb::handle members, nb::handle ends, nb::handle stage, nb::handle allowed, double log2_limit,
                    double log2_work) {
  const std::vector<std::int64_t> sizes = cards_of(cards);
  CutsetSearch search(sizes, scopes_of(members, ends, sizes.size()), stages_of(stage, sizes.size()),
                      mask_of(allowed, "allowed", sizes.size()));
  Cutset found;
  {
    LongCall call;
    found = search.found(log2_limit, log2_work);
  }
  const std::size_t count = found.variables.size(), left = found.rest.order.size();
  return nb::make_tuple(to_numpy(std::move(found.variables), {count}), to_numpy(std::move(found.rest.order), {left}),
                        found.rest.log2_cells);
}

std::shared_ptr<PyFactorModel> py_factor_model(nb::handle cards, nb::handle members, nb::handle ends,
                                               nb::list tables) {
  auto model = std::make_shared<PyFactorModel>();
  model->cards = cards_of(cards);
  model->offsets.push_back(0);
  for (const std::int64_t card : model->cards) model->offsets.push_back(model->offsets.back() + card);
  model->scopes = scopes_of(members, ends, model->cards.size());
  if (tables.size() != model->scopes.size()) throw nb::value_error("tables: one a scope");
  model->starts.push_back(0);
  for (std::size_t f = 0; f < model->scopes.size(); ++f) {
    const Buffer table(tables[f], "table");
    table.need_dimensions(1).need_kind(Kind::float64, "float64");
    std::size_t cells = 1;
    for (const std::int32_t v : model->scopes[f])
      cells = checked_product(cells, static_cast<std::size_t>(model->cards[static_cast<std::size_t>(v)]));
    table.need_length(0, cells);
    const std::vector<double> values = table.doubles();
    model->cells.insert(model->cells.end(), values.begin(), values.end());
    model->starts.push_back(static_cast<std::int64_t>(model->cells.size()));
  }
  model->prepare();
  return model;
}

// For each state of all variables, whether the tables allow it.
nb::object py_possible_states(const PyFactorModel& model) {
  std::vector<std::uint8_t> possible;
  {
    LongCall call;
    possible = PossibleStates(model).found();
  }
  const std::size_t count = possible.size();
  return to_numpy(std::move(possible), {count});
}

void make_tree(PyJunctionTree* self, const std::shared_ptr<PyFactorModel>& model, nb::handle observed,
               nb::handle soft, double log2_limit) {
  const std::size_t count = model->cards.size();
  auto made = std::make_unique<PyJunctionTree>();
  made->model = model;
  made->observed = mask_of(observed, "observed", count);
  made->log2_limit = log2_limit;
  const std::vector<char> softs = mask_of(soft, "soft", count);
  for (const char each : softs) made->softened = made->softened || each;
  {
    LongCall call;
    made->tree = std::make_unique<JunctionTree>(model, made->observed, softs, log2_limit);
  }
  new (self) PyJunctionTree(std::move(*made));
}

nb::tuple run_tree(const PyJunctionTree& self, nb::handle states, nb::handle likelihoods, std::int64_t threads) {
  if (self.tree->log2_cells() > self.log2_limit) throw nb::value_error("the tables are larger than the limit");
  const Buffer buffer(states, "states");
  const std::size_t variables = self.model->cards.size();
  const auto width = static_cast<std::size_t>(self.model->offsets.back());
  buffer.need_dimensions(2).need_length(1, variables);
  const std::size_t rows = buffer.length(0);
  std::vector<std::int32_t> cells(rows * variables);
  for (std::size_t r = 0; r < rows; ++r) {
    const Column row = buffer.row(r);
    if (row.kind != Kind::int32) buffer.refuse_type("must be of type int32");
    for (std::size_t v = 0; v < variables; ++v) {
      cells[r * variables + v] = load<std::int32_t>(row.at(v));
      if (self.observed[v] && (cells[r * variables + v] < 0 || cells[r * variables + v] >= self.model->cards[v]))
        buffer.refuse("no such state");
    }
  }
  std::vector<double> soft;
  const bool by_state = self.softened && likelihoods.is_none();  // a soft variable has the state of the row, if any
  if (by_state) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t v = 0; v < variables; ++v)
        if (cells[r * variables + v] >= self.model->cards[v]) buffer.refuse("no such state");
  } else if (self.softened) {
    const Buffer given(likelihoods, "likelihoods");
    given.need_dimensions(1).need_kind(Kind::float64, "float64").need_length(0, width);
    soft = given.doubles();
  }
  std::vector<double> posteriors(rows * width);
  std::vector<double> log_evidence(rows);
  std::vector<std::unique_ptr<JunctionTree::Scratch>> scratch(
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(threads, 1)), 1, std::max<std::size_t>(rows, 1)));
  scratch[0] = std::move(self.model->spare);
  {
    LongCall call;
    for (auto& each : scratch) {  // here, since a thread could not report that memory is exhausted
      if (!each) each = std::make_unique<JunctionTree::Scratch>();
      self.tree->prepare(*each);
    }
    std::vector<std::vector<double>> own(scratch.size(), std::vector<double>(by_state ? width : 0));
    run_on_threads(scratch.size(), [&](std::size_t part) {
      const std::size_t end = rows * (part + 1) / scratch.size();
      for (std::size_t r = rows * part / scratch.size(); r < end; ++r) {
        const std::int32_t* row = cells.data() + r * variables;
        if (by_state) self.model->likelihoods_of(row, own[part].data());
        const double* weights = by_state ? own[part].data() : soft.data();
        log_evidence[r] = self.tree->run(row, weights, posteriors.data() + r * width, *scratch[part]);
      }
    });
  }
  self.model->spare = std::move(scratch[0]);
  return nb::make_tuple(to_numpy(std::move(posteriors), {rows, width}), to_numpy(std::move(log_evidence), {rows}));
}

// One case, without arrays: (posteriors of all states, log P(evidence)).
nb::tuple run_tree_once(const PyJunctionTree& self, nb::dict states) {
  if (self.tree->log2_cells() > self.log2_limit) throw nb::value_error("the tables are larger than the limit");
  if (self.softened) throw nb::value_error("likelihoods: this tree needs them");
  std::vector<std::int32_t> cells(self.model->cards.size(), -1);
  for (const auto& [variable, state] : states) {
    const auto v = nb::cast<std::size_t>(variable);
    const auto s = nb::cast<std::int32_t>(state);
    if (v >= cells.size() || s < 0 || s >= self.model->cards[v]) throw nb::value_error("states: no such state");
    cells[v] = s;
  }
  for (std::size_t v = 0; v < cells.size(); ++v)
    if (self.observed[v] != (cells[v] >= 0)) throw nb::value_error("states: those of the observed variables");
  std::vector<double> posteriors(static_cast<std::size_t>(self.model->offsets.back()));
  double log_evidence = 0;
  std::unique_ptr<JunctionTree::Scratch> scratch = std::move(self.model->spare);
  {
    LongCall call;
    if (!scratch) scratch = std::make_unique<JunctionTree::Scratch>();
    self.tree->prepare(*scratch);
    log_evidence = self.tree->run(cells.data(), nullptr, posteriors.data(), *scratch);
  }
  self.model->spare = std::move(scratch);
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(posteriors.size()));
  if (list == nullptr) throw nb::python_error();
  for (std::size_t i = 0; i < posteriors.size(); ++i)
    NB_LIST_SET_ITEM(list, static_cast<Py_ssize_t>(i), PyFloat_FromDouble(posteriors[i]));
  return nb::make_tuple(nb::steal<nb::list>(list), log_evidence);
}

}  // namespace

void register_network(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PyFactorModel>(m, "FactorModel")
      .def_prop_ro("cells", [](const PyFactorModel& self) { return self.cells.size(); })
      .def("possible_states", &py_possible_states);
  nb::class_<PyJunctionTree>(m, "JunctionTree")
      .def("__init__", &make_tree, "model"_a, "observed"_a, "soft"_a, "log2_limit"_a)
      .def("run", &run_tree, "states"_a, "likelihoods"_a = nb::none(), "threads"_a = 1)
      .def("run_once", &run_tree_once, "states"_a)
      .def_prop_ro("cliques", [](const PyJunctionTree& self) { return self.tree->cliques(); })
      .def_prop_ro("log2_cells", [](const PyJunctionTree& self) { return self.tree->log2_cells(); });
  m.def("factor_model", &py_factor_model, "cards"_a, "members"_a, "ends"_a, "tables"_a);
  m.def("elimination_order", &py_elimination_order, "cards"_a, "members"_a, "ends"_a, "stage"_a);
  m.def("cutset", &py_cutset, "cards"_a, "members"_a, "ends"_a, "stage"_a, "allowed"_a, "log2_limit"_a, "log2_work"_a);
}

}  // namespace bayesbox
