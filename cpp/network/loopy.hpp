// Loopy belief propagation: messages between tables and variables, sent until they no longer change. On a graph without
// loops they are exact; otherwise a fixed point is an approximation, and may not be reached.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/functions.hpp"
#include "core/interrupt.hpp"
#include "network/cut_model.hpp"

namespace bayesbox {

struct LoopyResult {
  double log_evidence = 0;  // by the Bethe free energy; minus infinity where the messages prove it impossible
  double residual = 0;      // the greatest change of a message in the last sweep
  std::int64_t sweeps = 0;
};

class LoopyPropagation {
 public:
  explicit LoopyPropagation(const CutModel& cut) : cut_(cut) {
    starts_.reserve(cut.factors().size());
    std::size_t total = 0;
    for (const CutFactor& factor : cut.factors()) {
      std::vector<std::size_t> starts;
      for (const std::int64_t size : factor.sizes) {
        starts.push_back(total);
        total += static_cast<std::size_t>(size);
      }
      starts_.push_back(std::move(starts));
    }
    to_variable_.resize(total);
    for (std::size_t f = 0; f < starts_.size(); ++f)
      for (std::size_t axis = 0; axis < starts_[f].size(); ++axis) {
        const auto size = static_cast<std::size_t>(cut.factors()[f].sizes[axis]);
        std::fill_n(to_variable_.begin() + static_cast<std::ptrdiff_t>(starts_[f][axis]), size,
                    1.0 / static_cast<double>(size));
      }
    order_tables();
  }

  LoopyResult run(std::int64_t most_sweeps, double tolerance) {
    LoopyResult result;
    for (const CutFactor& factor : cut_.factors())
      if (factor.variables.empty() && !(factor.cells[0] > 0)) return impossible(result);
    for (; result.sweeps < most_sweeps; ++result.sweeps) {
      const bool damped = result.sweeps >= kUndamped;
      result.residual = 0;
      for (std::size_t i = order_.size(); i-- > 0;)  // towards the roots, and back
        if (!send(order_[i], damped, result.residual)) return impossible(result);
      for (const std::size_t f : order_)
        if (!send(f, damped, result.residual)) return impossible(result);
      if (result.residual <= tolerance) {
        ++result.sweeps;
        break;
      }
    }
    result.log_evidence = bethe();
    return result;
  }

  // P(state | evidence) of every variable.
  void beliefs(double* posteriors) const {
    cut_.fill_observed(posteriors);
    for (const std::int32_t v : cut_.hidden()) product(v, kNone, posteriors + cut_.offset(v));
  }

  // The normalised product of the messages to a variable from all tables but one.
  double product(std::int32_t v, std::size_t except, double* to) const {
    const std::size_t card = cut_.card(v);
    std::fill_n(to, card, 1.0);
    for (const CutModel::Use& use : cut_.uses(v)) {
      if (use.factor == except) continue;
      const double* message = to_variable_.data() + starts_[use.factor][use.axis];
      double most = 0;
      for (std::size_t s = 0; s < card; ++s) {
        to[s] *= message[s];
        most = std::max(most, to[s]);
      }
      if (most > 0 && most < 1e-100)
        for (std::size_t s = 0; s < card; ++s) to[s] /= most;
    }
    return normalized(to, card);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  static constexpr std::int64_t kUndamped = 100;  // sweeps, after which old messages hold the new ones back

  static LoopyResult impossible(LoopyResult result) {
    result.log_evidence = -std::numeric_limits<double>::infinity();
    return result;
  }
  static double normalized(double* values, std::size_t count) {
    double total = 0;
    for (std::size_t s = 0; s < count; ++s) total += values[s];
    if (total > 0)
      for (std::size_t s = 0; s < count; ++s) values[s] /= total;
    return total;
  }

  // Breadth first, so that without loops one way to the roots and back is all it takes.
  void order_tables() {
    std::vector<char> seen(cut_.factors().size(), 0);
    for (std::size_t root = 0; root < seen.size(); ++root) {
      if (seen[root] || cut_.factors()[root].variables.empty()) continue;
      seen[root] = 1;
      std::size_t at = order_.size();
      order_.push_back(root);
      for (; at < order_.size(); ++at)
        for (const std::int32_t v : cut_.factors()[order_[at]].variables)
          for (const CutModel::Use& use : cut_.uses(v))
            if (!seen[use.factor]) {
              seen[use.factor] = 1;
              order_.push_back(use.factor);
            }
    }
  }

  // The messages of one table to all its variables; false where nothing is left possible.
  bool send(std::size_t f, bool damped, double& residual) {
    poll(32 * starts_[f].size());
    const double total = gather(f);
    if (!(total > 0)) return false;
    for (std::size_t axis = 0; axis < starts_[f].size(); ++axis) {
      double* fresh = outgoing_[axis].data();
      double* message = to_variable_.data() + starts_[f][axis];
      const std::size_t size = outgoing_[axis].size();
      if (!(normalized(fresh, size) > 0)) return false;
      for (std::size_t s = 0; s < size; ++s) residual = std::max(residual, std::fabs(fresh[s] - message[s]));
      if (damped) {
        for (std::size_t s = 0; s < size; ++s) fresh[s] = std::sqrt(fresh[s] * message[s]);
        if (!(normalized(fresh, size) > 0)) return false;
      }
      std::copy_n(fresh, size, message);
    }
    return true;
  }

  // What a table makes of the messages to it: to each variable the sum over all others. Returns the sum over all.
  double gather(std::size_t f) {
    const CutFactor& factor = cut_.factors()[f];
    const std::size_t axes = factor.variables.size(), last = axes - 1;
    incoming_.resize(std::max(incoming_.size(), axes));
    outgoing_.resize(axes);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const auto size = static_cast<std::size_t>(factor.sizes[axis]);
      incoming_[axis].resize(size);
      if (!(product(factor.variables[axis], f, incoming_[axis].data()) > 0)) return 0;
      outgoing_[axis].assign(size, 0.0);
    }
    at_.assign(axes, 0);
    before_.assign(axes + 1, 1.0);
    const auto run = static_cast<std::size_t>(factor.sizes[last]);
    const double* cells = factor.cells.data();
    double total = 0;
    std::size_t changed = 0;
    for (std::size_t done = 0; done < factor.cells.size(); done += run, cells += run) {
      poll_at(done / run, run);
      for (std::size_t axis = changed; axis < last; ++axis) before_[axis + 1] = before_[axis] * incoming_[axis][at_[axis]];
      double inner = 0;
      for (std::size_t s = 0; s < run; ++s) {
        outgoing_[last][s] += before_[last] * cells[s];
        inner += cells[s] * incoming_[last][s];
      }
      total += before_[last] * inner;
      for (std::size_t axis = last; axis-- > 0;) {
        outgoing_[axis][at_[axis]] += before_[axis] * inner;
        inner *= incoming_[axis][at_[axis]];
      }
      for (changed = last; changed-- > 0;) {
        if (++at_[changed] < static_cast<std::size_t>(factor.sizes[changed])) break;
        at_[changed] = 0;
      }
    }
    return total;
  }

  // log Z = sum over tables of log Z_f + over variables of log Z_v - over their links of log Z_fv
  double bethe() {
    double log_z = 0;
    std::vector<double> both;
    for (std::size_t f = 0; f < starts_.size(); ++f) {
      const CutFactor& factor = cut_.factors()[f];
      if (factor.variables.empty()) {
        log_z += portable::log(factor.cells[0]);
        continue;
      }
      log_z += portable::log(gather(f));
      for (std::size_t axis = 0; axis < starts_[f].size(); ++axis) {
        const double* message = to_variable_.data() + starts_[f][axis];
        double shared = 0;
        for (std::size_t s = 0; s < incoming_[axis].size(); ++s) shared += message[s] * incoming_[axis][s];
        log_z -= portable::log(shared);
      }
    }
    for (const std::int32_t v : cut_.hidden()) log_z += log_agreement(v);
    return log_z;
  }
  double log_agreement(std::int32_t v) const {
    const std::size_t card = cut_.card(v);
    std::vector<double> together(card, 1.0);
    double log_scale = 0;
    for (const CutModel::Use& use : cut_.uses(v)) {
      const double* message = to_variable_.data() + starts_[use.factor][use.axis];
      for (std::size_t s = 0; s < card; ++s) together[s] *= message[s];
      const double total = normalized(together.data(), card);
      log_scale += portable::log(total);
    }
    return cut_.uses(v).empty() ? portable::log(static_cast<double>(card)) : log_scale;
  }

  const CutModel& cut_;
  std::vector<std::vector<std::size_t>> starts_;  // of each table's message to each of its variables
  std::vector<double> to_variable_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<double>> incoming_, outgoing_;
  std::vector<std::size_t> at_;
  std::vector<double> before_;
};

}  // namespace bayesbox
