// Python bindings of a pool of models that predicts one row.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/buffer.hpp"
#include "bind/interrupt.hpp"
#include "bind/register.hpp"
#include "bind/result_array.hpp"
#include "bind/row_values.hpp"
#include "bind/scorer_densities.hpp"
#include "core/functions.hpp"
#include "table/design_row.hpp"
#include "table/point_kernel.hpp"

namespace bayesbox {
namespace {

// The kernel of rows x columns, or None if a group of columns is not one-hot.
nb::object point_kernel(nb::handle points, nb::handle labels, nb::handle groups, nb::handle shares, double pull, double scale) {
  const Buffer table(points, "points");
  table.need_dimensions(2).need_kind(Kind::float64, "float64");
  const std::size_t count = table.length(0);
  const std::vector<std::int64_t> codes = Buffer(labels, "labels").need_dimensions(1).need_length(0, count).integers();
  std::vector<std::size_t> sizes;
  std::size_t width = 0;
  for (const std::int64_t each : Buffer(groups, "groups").need_dimensions(1).integers()) {
    if (each < 0 || each > 65535) throw nb::value_error("groups: out of range");
    sizes.push_back(static_cast<std::size_t>(each));
    width += std::max<std::size_t>(sizes.back(), 1);
  }
  table.need_length(1, width);
  if (!(scale > 0) || !(pull > 0)) throw nb::value_error("scale and pull: above 0");
  const std::vector<double> values = table.doubles();
  auto found = PointKernel::of(values.data(), codes.data(), count, std::move(sizes), any_doubles(shares, "shares"), pull, scale);
  return found ? nb::cast(std::move(*found)) : nb::none();
}

// Rows x classes: the shares of the classes near each row; None if a row has a group that is not one-hot.
nb::object ask_kernel(const PointKernel& self, nb::handle rows) {
  const Buffer table(rows, "rows");
  table.need_dimensions(2).need_kind(Kind::float64, "float64").need_length(1, self.width());
  const std::vector<double> values = table.doubles();
  ResultArray<double> out(table.length(0) * self.classes());
  bool plain = true;
  {
    LongCall call;
    for (std::size_t i = 0; i < table.length(0) && plain; ++i)
      plain = self.ask(values.data() + i * self.width(), out.data() + i * self.classes());
  }
  if (!plain) return nb::none();
  return std::move(out).to_numpy({table.length(0), self.classes()});
}

enum class MemberKind { rows, forest, boosted, linear, normals, kernel };

struct PoolMember {
  MemberKind kind = MemberKind::rows;
  double power = 0;
  nb::object model, table;           // a scorer of rows; a forest and what its nodes say
  std::vector<std::int64_t> places;  // of the classes of the pool among those of the scorer
  std::vector<double> start;         // of boosted trees
  double trees = 1;
  LinearLogits linear;
  RootNormals normals;
};

class PoolScorer {
 public:
  // axes: (name, levels or None, whether it is a flag, cuts, knots, centre, scale, gaps) each. members: (kind, power, ...) each.
  // shares: those of the classes, their power, and the rows they stand for. places: of the classes asked for among those of
  // the pool, -1 of others, with the log of what these get, and what another base rate adds.
  PoolScorer(nb::list axes, nb::list members, nb::handle shares, double power, double rows, nb::tuple labels, nb::handle places,
             double rare, nb::handle shift)
      : shares_(any_doubles(shares, "shares")), power_(power), rows_(rows), labels_(labels), rare_(rare) {
    classes_ = shares_.size();
    if (classes_ == 0) throw nb::value_error("shares: there is no class");
    for (nb::handle axis : axes) read_axis(tuple_of(axis));
    for (nb::handle member : members) read_member(tuple_of(member));
    places_ = Buffer(places, "places").need_dimensions(1).need_length(0, labels.size()).integers();
    for (const std::int64_t place : places_)
      if (place >= static_cast<std::int64_t>(classes_)) throw nb::value_error("places: out of range");
    if (labels.size() == 0) throw nb::value_error("labels: there is no class");
    shift_ = doubles_of(shift, "shift", labels.size());
  }

  nb::object proba(nb::handle row, nb::handle) const { return array(row, false); }
  nb::object log_proba(nb::handle row, nb::handle) const { return array(row, true); }

  nb::object proba_by_label(nb::handle row, nb::handle) const {
    std::vector<double> out;
    if (!answer(row, out)) return nb::none();
    nb::dict found;
    for (std::size_t c = 0; c < out.size(); ++c) found[labels_[c]] = nb::float_(portable::exp(out[c]));
    return found;
  }

  nb::object predict(nb::handle row, nb::handle) const {
    std::vector<double> out;
    if (!answer(row, out)) return nb::none();
    for (double& each : out) each = portable::exp(each);
    return nb::borrow(labels_[static_cast<std::size_t>(std::max_element(out.begin(), out.end()) - out.begin())]);
  }

  // Many rows are predicted together elsewhere.
  nb::object proba_many(nb::list, bool, bool) const { return nb::none(); }
  nb::object best_many(nb::list, bool) const { return nb::none(); }
  nb::object proba_of_matrix(nb::handle, nb::handle, bool) const { return nb::none(); }
  nb::object best_of_matrix(nb::handle, nb::handle) const { return nb::none(); }

 private:
  static constexpr double kLeast = 1e-6;  // the lowest probability of a class in a member

  void read_axis(const nb::tuple& given) {
    if (given.size() != 8) throw nb::value_error("axes: wrong number of fields");
    DesignAxis axis;
    names_.push_back(nb::str(nb::handle(given[0])));
    axis.has_levels = !nb::handle(given[1]).is_none();
    axis.is_flag = nb::cast<bool>(given[2]);
    if (axis.has_levels)
      for (nb::handle level : tuple_of(given[1])) {
        const std::string text = nb::cast<nb::str>(level).c_str();
        const std::int32_t code = axis.levels.add(text);
        if (text == "false") axis.flag_codes[0] = code;
        if (text == "true") axis.flag_codes[1] = code;
      }
    if (axis.levels.size() > 60000) throw nb::value_error("axes: too many levels");
    axis.cuts = any_doubles(given[3], "cuts");
    axis.knots = any_doubles(given[4], "knots");
    if (axis.cuts.size() > 60000) throw nb::value_error("axes: too many cuts");
    axis.centre = nb::cast<double>(given[5]);
    axis.scale = nb::cast<double>(given[6]);
    axis.gaps = nb::cast<bool>(given[7]);
    width_ += axis.has_levels ? axis.levels.size() : 1;
    features_ += (axis.has_levels ? axis.levels.size() : 1 + axis.knots.size()) + axis.gaps;
    axes_.push_back(std::move(axis));
  }

  // (rows, power, scorer, places), (forest, power, forest, table, trees), (boosted, power, forest, values, start), (linear,
  // power, weights), (normals, power, shifts, roots, offsets, own power) or (kernel, power, kernel)
  void read_member(const nb::tuple& given) {
    if (given.size() < 3) throw nb::value_error("members: too few fields");
    const std::string kind = nb::str(nb::handle(given[0])).c_str();
    PoolMember member;
    member.power = nb::cast<double>(given[1]);
    const auto need = [&](std::size_t count) {
      if (given.size() != count) throw nb::value_error("members: wrong number of fields");
    };
    if (kind == "rows") {
      need(4);
      member.model = nb::borrow(nb::handle(given[2])).attr("log_proba");
      member.places = Buffer(given[3], "places").need_dimensions(1).need_length(0, classes_).integers();
    } else if (kind == "forest" || kind == "boosted") {
      need(5);
      member.kind = kind == "forest" ? MemberKind::forest : MemberKind::boosted;
      member.model = nb::borrow(nb::handle(given[2])).attr("ask_values");
      member.table = nb::borrow(nb::handle(given[3]));
      if (kind == "forest") {
        member.trees = nb::cast<double>(given[4]);
      } else {
        member.start = doubles_of(given[4], "start", classes_);
      }
    } else if (kind == "linear") {
      need(3);
      member.kind = MemberKind::linear;
      member.linear.weights = doubles_of(given[2], "weights", (features_ + 1) * classes_);
    } else if (kind == "normals") {
      need(6);
      member.kind = MemberKind::normals;
      member.normals.width = width_;
      member.normals.shifts = doubles_of(given[2], "shifts", classes_ * width_);
      member.normals.roots = any_doubles(given[3], "roots");
      if (member.normals.roots.size() != width_ * width_ && member.normals.roots.size() != classes_ * width_ * width_)
        throw nb::value_error("roots: one, or one a class");
      member.normals.offsets = doubles_of(given[4], "offsets", classes_);
      member.normals.power = nb::cast<double>(given[5]);
    } else if (kind == "kernel") {
      need(3);
      member.kind = MemberKind::kernel;
      member.model = nb::borrow(nb::handle(given[2]));
      const PointKernel& kernel = nb::cast<const PointKernel&>(member.model);
      if (kernel.width() != width_ || kernel.classes() != classes_) throw nb::value_error("kernel: other columns or classes");
    } else {
      throw nb::value_error("members: unknown kind");
    }
    members_.push_back(std::move(member));
  }

  nb::object array(nb::handle row, bool logs) const {
    std::vector<double> out;
    if (!answer(row, out)) return nb::none();
    if (!logs)
      for (double& each : out) each = portable::exp(each);
    const std::size_t size = out.size();
    return to_numpy(std::move(out), {size});
  }

  bool read(nb::handle row, DesignRow& found) const {
    if (!PyDict_Check(row.ptr())) return false;
    found.clear(width_);
    std::size_t absent = 0;
    for (std::size_t j = 0; j < axes_.size(); ++j) {
      const DesignAxis& axis = axes_[j];
      PyObject* value = PyDict_GetItemWithError(row.ptr(), names_[j].ptr());
      if (value == nullptr && PyErr_Occurred()) throw nb::python_error();
      if (value == nullptr) ++absent;
      if (value == nullptr || value == Py_None) {
        axis.has_levels ? found.add_level(axis, -1) : found.add_number(axis, std::nan(""));
      } else if (!axis.has_levels) {
        double number = 0;
        if (!number_of(value, number)) return false;
        found.add_number(axis, number);
      } else if (axis.is_flag) {
        const std::optional<int> flag = flag_of(value);
        if (!flag || *flag == kUnseenFlag) return false;
        found.add_level(axis, *flag < 0 ? -1 : axis.flag_codes[*flag]);
      } else {
        LevelText text;
        if (!text.of(value)) return false;
        found.add_level(axis, text.missing() ? -1 : axis.levels.find(text.view()));
      }
    }
    return absent < axes_.size();
  }

  // log P(class | x) in the order of the labels; false if the row needs the general path.
  bool answer(nb::handle row, std::vector<double>& out) const {
    DesignRow seen;
    if (!read(row, seen)) return false;
    std::vector<double> total(classes_), own(classes_), scratch;
    nb::object codes;
    const double least = portable::log(kLeast);
    for (const PoolMember& member : members_) {
      switch (member.kind) {
        case MemberKind::rows: {
          const nb::object found = member.model(row);
          if (found.is_none()) return false;
          const std::vector<double> logs = any_doubles(found, "answers");
          for (std::size_t c = 0; c < classes_; ++c) {
            if (member.places[c] < 0 || static_cast<std::size_t>(member.places[c]) >= logs.size()) return false;
            own[c] = logs[static_cast<std::size_t>(member.places[c])];
          }
          break;
        }
        case MemberKind::forest:
        case MemberKind::boosted: {
          if (!codes.is_valid()) codes = to_numpy(std::vector<std::uint16_t>(seen.codes), {seen.codes.size(), 1});
          const nb::object found = member.model(codes, member.table);
          const Buffer sums(found, "sums");
          own = sums.need_dimensions(2).need_length(0, 1).need_length(1, classes_).doubles();
          for (std::size_t c = 0; c < classes_; ++c)
            own[c] = member.kind == MemberKind::forest ? portable::log(own[c] / member.trees) : member.start[c] + own[c];
          if (member.kind == MemberKind::boosted) normalise_logs(own.data(), classes_);
          break;
        }
        case MemberKind::linear: member.linear.ask(seen, classes_, own.data()); break;
        case MemberKind::normals: member.normals.ask(seen, classes_, scratch, own.data()); break;
        case MemberKind::kernel:
          if (!nb::cast<const PointKernel&>(member.model).ask(seen.standard.data(), own.data())) return false;
          for (double& each : own) each = portable::log(each);
      }
      for (std::size_t c = 0; c < classes_; ++c) total[c] += member.power * std::max(own[c], least);
    }
    for (std::size_t c = 0; c < classes_; ++c) total[c] += power_ * std::max(portable::log(shares_[c]), least);
    normalise_logs(total.data(), classes_);
    const double kept = portable::log(rows_ / (rows_ + 1));
    for (std::size_t c = 0; c < classes_; ++c) {  // the class shares mixed in, worth one row
      const double a = total[c] + kept, b = portable::log(shares_[c] / (rows_ + 1)), top = std::max(a, b);
      total[c] = std::isinf(top) ? top : top + portable::log1p(portable::exp(-std::fabs(a - b)));
    }
    out.resize(places_.size());
    for (std::size_t c = 0; c < out.size(); ++c)
      out[c] = (places_[c] < 0 ? rare_ : total[static_cast<std::size_t>(places_[c])]) + shift_[c];
    normalise_logs(out.data(), out.size());
    return std::all_of(out.begin(), out.end(), [](double each) { return !std::isnan(each); });
  }

  std::vector<nb::object> names_;
  std::vector<DesignAxis> axes_;
  std::vector<PoolMember> members_;
  std::vector<double> shares_, shift_;
  std::vector<std::int64_t> places_;
  double power_, rows_;
  nb::tuple labels_;
  double rare_;
  std::size_t classes_ = 0, width_ = 0, features_ = 0;
};

}  // namespace

void register_pool(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PointKernel>(m, "PointKernel")
      .def_static("of", &point_kernel, "points"_a, "labels"_a, "groups"_a, "shares"_a, "pull"_a, "scale"_a)
      .def("ask", &ask_kernel, "rows"_a);
  nb::class_<PoolScorer>(m, "PoolScorer")
      .def(nb::init<nb::list, nb::list, nb::handle, double, double, nb::tuple, nb::handle, double, nb::handle>(), "axes"_a, "members"_a,
           "shares"_a, "power"_a, "rows"_a, "labels"_a, "places"_a, "rare"_a, "shift"_a)
      .def("proba", &PoolScorer::proba, "row"_a, "extra"_a.none() = nb::none())
      .def("log_proba", &PoolScorer::log_proba, "row"_a, "extra"_a.none() = nb::none())
      .def("proba_by_label", &PoolScorer::proba_by_label, "row"_a, "extra"_a.none() = nb::none())
      .def("predict", &PoolScorer::predict, "row"_a, "extra"_a.none() = nb::none())
      .def("proba_many", &PoolScorer::proba_many, "rows"_a, "logs"_a, "known_only"_a = false)
      .def("best_many", &PoolScorer::best_many, "rows"_a, "known_only"_a)
      .def("proba_of_matrix", &PoolScorer::proba_of_matrix, "matrix"_a, "places"_a, "logs"_a)
      .def("best_of_matrix", &PoolScorer::best_of_matrix, "matrix"_a, "places"_a);
}

}  // namespace bayesbox
