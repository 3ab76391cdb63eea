// Python bindings of the moves of a structure search.
#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "network/arc_moves.hpp"

namespace bayesbox {
namespace {

std::vector<std::int64_t> square(nb::handle given, const char* what, std::size_t nodes) {
  const Buffer buffer(given, what);
  buffer.need_dimensions(1).need_length(0, nodes * nodes);
  return buffer.integers();
}

class PyArcMoves {
 public:
  PyArcMoves(std::int64_t nodes, nb::handle required, nb::handle turnable, nb::handle marks)
      : moves_(made(nodes, required, turnable, marks)) {}

  void toggle(std::int64_t parent, std::int64_t child) {
    moves_.toggle(node(parent), node(child));
  }
  void set_changes(std::int64_t child, double score, nb::handle gain) {
    const Buffer buffer(gain, "gain");
    buffer.need_dimensions(1).need_length(0, moves_.nodes()).need_kind(Kind::float64, "float64");
    const std::vector<double> gains = buffer.doubles();
    moves_.set_changes(node(child), score, gains.data());
  }
  void lower(std::int64_t child, double by) { moves_.lower(node(child), by); }
  double total() const { return moves_.total(); }
  void remember() { moves_.remember(); }
  nb::tuple best(bool fresh) {
    ArcMove found;
    {
      LongCall call;
      found = moves_.best(fresh);
    }
    return nb::make_tuple(static_cast<int>(found.kind), found.parent, found.child, found.gain);
  }
  nb::list covered() const {
    nb::list made;
    for (const ArcMove& arc : moves_.covered()) made.append(nb::make_tuple(arc.parent, arc.child));
    return made;
  }

 private:
  static ArcMoves made(std::int64_t nodes, nb::handle required, nb::handle turnable, nb::handle marks) {
    if (nodes < 0 || nodes > 65536) throw nb::value_error("nodes: 0 to 65,536");
    const auto count = static_cast<std::size_t>(nodes);
    const std::vector<std::int64_t> must = square(required, "required", count), turn = square(turnable, "turnable", count);
    const std::vector<std::int64_t> mark = square(marks, "marks", count);
    return {count, {must.begin(), must.end()}, {turn.begin(), turn.end()}, {mark.begin(), mark.end()}};
  }
  std::size_t node(std::int64_t index) const {
    if (index < 0 || index >= static_cast<std::int64_t>(moves_.nodes())) throw nb::index_error("no such node");
    return static_cast<std::size_t>(index);
  }

  ArcMoves moves_;
};

}  // namespace

void register_structure(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PyArcMoves>(m, "ArcMoves")
      .def(nb::init<std::int64_t, nb::handle, nb::handle, nb::handle>(), "nodes"_a, "required"_a, "turnable"_a, "marks"_a)
      .def("toggle", &PyArcMoves::toggle, "parent"_a, "child"_a)
      .def("set_changes", &PyArcMoves::set_changes, "child"_a, "score"_a, "gain"_a)
      .def("lower", &PyArcMoves::lower, "child"_a, "by"_a)
      .def_prop_ro("total", &PyArcMoves::total)
      .def("remember", &PyArcMoves::remember)
      .def("best", &PyArcMoves::best, "fresh"_a)
      .def("covered", &PyArcMoves::covered);
}

}  // namespace bayesbox
