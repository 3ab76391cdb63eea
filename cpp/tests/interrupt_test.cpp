// Long loops end when they are told to, and what they worked on is as before.
#include "core/interrupt.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/threads.hpp"
#include "network/exact_search.hpp"
#include "table/count.hpp"
#include "table/moments.hpp"
#include "table/pair_counts.hpp"
#include "table/score.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

struct Told : std::runtime_error {
  Told() : std::runtime_error("told to end") {}
};

std::atomic<int> checks{0};

// For as long as it lives, the check of this process throws; before and after there is none.
class Telling {
 public:
  Telling() {
    polling = {};
    checks = 0;
    interrupt_check = +[] {
      ++checks;
      throw Told();
    };
  }
  ~Telling() { interrupt_check = nullptr; }
};

// Ends when it is told to, and does the same work afterwards as if nothing had been.
template <class Work>
void ends_early(const Work& work) {
  const auto whole = work();
  {
    const Telling telling;
    CHECK_THROWS(work(), Told);
    CHECK(checks == 1);
  }
  CHECK(work() == whole);
}

struct Table {
  static constexpr std::size_t kRows = 300'000, kColumns = 3;
  std::vector<double> numbers;
  std::vector<std::uint8_t> codes;
  std::vector<std::int32_t> labels;

  Table() {
    std::mt19937_64 random(3);
    labels = random_labels(random, kRows, 0, 2);
    for (std::size_t i = 0; i < kRows * kColumns; ++i) {
      numbers.push_back(static_cast<double>(random() % 1000) / 7);
      codes.push_back(static_cast<std::uint8_t>(random() % 5));
    }
  }
  template <class T>
  static std::vector<Column> columns(const std::vector<T>& matrix) {
    std::vector<Column> found;
    for (std::size_t j = 0; j < kColumns; ++j) found.push_back(column_of(matrix, kColumns, j));
    return found;
  }
};

TEST(counting_and_scoring_end_early) {
  const Table table;
  const Column target = column_of(table.labels);
  ends_early([&] { return count_labels(target, 3); });
  ends_early([&] { return count_codes(Table::columns(table.codes), {5, 5, 5}, target, 3); });
  ends_early([&] { return count_pairs(Table::columns(table.codes), target, PairLayout({5, 5, 5}, 3, 1000)); });
  ends_early([&] {
    std::vector<std::vector<double>> sums;
    for (const Moments& each : moments(Table::columns(table.numbers), target, 3, nullptr)) {
      Magnitude scratch;
      for (std::size_t c = 0; c < 3; ++c)
        sums.push_back({each.total.rounded(c, scratch), each.squares.rounded(c, scratch), each.n.rounded(c, scratch)});
    }
    return sums;
  });
  ends_early([&] {
    const std::vector<double> prior(3, -1.0), parameters = {0, 0, 1, -1, 5, 0, 2, -1, 9, 0, 3, -1};
    ScoreRequest request;
    request.rows = Table::kRows;
    request.classes = 3;
    request.prior = prior.data();
    for (const Column& column : Table::columns(table.numbers)) request.gaussians.push_back({column, parameters.data()});
    std::vector<double> out(3 * Table::kRows);
    score(request, Output::posterior, out.data(), nullptr);
    return out;
  });
}

TEST(a_search_over_all_networks_ends_early) {
  const Table table;
  std::vector<std::uint8_t> codes(12 * 2000);
  std::mt19937_64 random(4);
  for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(random() % 3);
  std::vector<CodeColumn> columns(12);
  for (std::size_t v = 0; v < 12; ++v) columns[v] = {codes.data() + 2000 * v, nullptr, 3};
  ExactTask task;
  task.parameter = 1;
  task.most_parents = 3;
  task.required.assign(12, 0);
  task.forbidden.assign(12, 0);
  ends_early([&] { return ExactSearch(columns, 2000, task).best(); });
}

TEST(a_poll_asks_only_now_and_then) {
  static std::atomic<int> asked;
  asked = 0;
  polling = {};
  interrupt_check = +[] { ++asked; };
  for (int i = 0; i < 1000; ++i) poll(static_cast<std::size_t>(kStepsALook) / 4);
  CHECK(asked == 1);  // the first time; the others come within the time between checks
  polling.next_check = {};
  poll(static_cast<std::size_t>(kStepsALook) + 1);
  CHECK(asked == 2);
  interrupt_check = nullptr;
}

TEST(a_flag_stops_its_thread_and_those_it_set_up) {
  const auto outer = std::make_shared<StopFlag>(nullptr), inner = std::make_shared<StopFlag>(outer);
  bool stopped = false;
  std::thread([&] {
    stop_flag = inner;
    look_for_interrupt();
    outer->set();
    try {
      for (int i = 0; i < 100; ++i) poll(1 << 16);
    } catch (const Interrupted&) {
      stopped = true;
    }
  }).join();
  CHECK(stopped);
  CHECK(inner->is_set());
  look_for_interrupt();  // this thread has no flag
  const auto other = std::make_shared<StopFlag>(nullptr);
  CHECK(!other->is_set());
}

void work_without_end() {
  for (;;) poll(1 << 10);
}

TEST(an_interrupt_ends_all_threads_of_a_call) {
  const Telling telling;
  CHECK_THROWS(run_on_threads(3, [](std::size_t) { work_without_end(); }), Told);
}

TEST(an_interrupt_reaches_one_who_waits_for_threads) {
  const Telling telling;
  CHECK_THROWS(run_on_threads(2,
                              [](std::size_t thread) {
                                if (thread > 0) work_without_end();
                              }),
               Told);
}

TEST(the_error_of_a_thread_comes_back) {
  CHECK_THROWS(run_on_threads(3,
                              [](std::size_t thread) {
                                if (thread == 2) throw std::length_error("too long");
                                if (thread == 1) work_without_end();
                              }),
               std::length_error);
  std::atomic<int> done{0};
  run_on_threads(3, [&](std::size_t) { ++done; });
  run_on_threads(1, [&](std::size_t) { ++done; });
  CHECK(done == 4);
}

}  // namespace
}  // namespace bayesbox::test
