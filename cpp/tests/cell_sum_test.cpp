#include "table/cell_sum.hpp"

#include <bit>

#include "table/score.hpp"
#include "test.hpp"

namespace bayesbox::test {
namespace {

// Columns of one model, row-major, with the values that are worked out one by one among the others.
struct Model {
  std::size_t rows, classes, columns;
  std::vector<double> values, prior;
  std::vector<std::vector<std::uint16_t>> run_of;
  std::vector<std::vector<double>> heights, ratios, parameters, zeros;
  ScoreRequest request;

  static constexpr std::size_t kRuns = 5;
  static constexpr std::int32_t kLeast = 8150, kSizes = 64;

  Model(std::mt19937_64& random, std::size_t rows, std::size_t classes, std::size_t columns)
      : rows(rows), classes(classes), columns(columns), prior(classes, -1.0) {
    std::normal_distribution<double> normal;
    const double odd[] = {std::nan(""), 0.0, -0.0, 1e-310, 1e300, -1e300, 1e6, 3e5};
    for (std::size_t i = 0; i < rows * columns; ++i)
      values.push_back(random() % 8 == 0 ? odd[random() % std::size(odd)] : std::exp(normal(random)) * (random() % 4 == 0 ? -1 : 1));
    for (std::size_t j = 0; j < columns; ++j) {
      std::vector<std::uint16_t>& runs = run_of.emplace_back();
      for (std::size_t key = 0; key < 2 * kSizes; ++key) runs.push_back(static_cast<std::uint16_t>(key / 8 % kRuns));
      std::vector<double>&own = heights.emplace_back(), &over = ratios.emplace_back(), &shapes = parameters.emplace_back();
      for (std::size_t i = 0; i < (classes + 1) * kRuns; ++i) own.push_back(normal(random));
      for (std::size_t i = 0; i < classes * kRuns; ++i) over.push_back(std::exp(own[i] - own[classes * kRuns + i % kRuns]));
      for (std::size_t c = 0; c <= classes; ++c) {
        const double df = c == classes ? 3 : std::ldexp(3.0, static_cast<int>(random() % 40));
        for (const double each : {normal(random), std::exp(normal(random)), df}) shapes.push_back(each);
      }
      std::vector<double>& shares = zeros.emplace_back();
      for (std::size_t c = 0; c < classes; ++c) shares.push_back(-std::exp(normal(random)));
    }
    request.rows = rows;
    request.classes = classes;
    request.prior = prior.data();
    for (std::size_t j = 0; j < columns; ++j) {
      CellDensity density{classes, j % 3 == 1, 0.25, run_of[j].data(), kLeast, kSizes, kRuns, heights[j].data(), nullptr,
                          ratios[j].data(), parameters[j].data(), j % 2 == 0 ? zeros[j].data() : nullptr};
      request.cells.push_back({column_of(values, columns, j), density, j % 5 == 4 ? 0.5 : 1.0});
    }
  }

  long double term(std::size_t row, std::size_t j, std::size_t c) const {
    const CellDensity& density = request.cells[j].density;
    const double value = values[row * columns + j];
    if (std::isnan(value) || (density.is_log && value <= 0 && !(value == 0 && density.zeros))) return 0;
    if (value == 0 && density.zeros) return density.zeros[c];
    const long double x = density.is_log ? std::log(static_cast<long double>(value)) : value;
    const std::int32_t key = cell_key(value), size = std::clamp(key < 0 ? -1 - key : key, kLeast, kLeast + kSizes - 1);
    const auto place = static_cast<std::size_t>(key < 0 ? kSizes - 1 - (size - kLeast) : kSizes + (size - kLeast));
    const std::size_t run = std::min<std::size_t>(run_of[j][place], kRuns - 1);
    const auto own = [&](std::size_t k) {
      const double* of = density.parameters + 3 * k;
      const long double z = (x - density.base - of[0]) / of[1];
      return density.heights[k * kRuns + run] - (of[2] + 1) / 2 * std::log1p(z * z / of[2]);
    };
    const long double common = own(classes), above = own(c) - common;
    return common - (density.is_log ? x : 0) + std::max(above, 0.0L) + std::log1p(std::exp(-std::fabs(above)));
  }

  long double joint(std::size_t row, std::size_t c) const {
    long double sum = prior[c];
    for (std::size_t j = 0; j < columns; ++j) sum += request.cells[j].weight * term(row, j, c);
    return sum;
  }
};

std::vector<double> run(const ScoreRequest& request, Output output) {
  std::vector<double> out(request.rows * request.classes);
  score(request, output, out.data(), nullptr);
  return out;
}

TEST(terms_by_cell_are_those_of_the_formula) {
  std::mt19937_64 random(5);
  for (const std::size_t classes : {1u, 3u, 6u})
    for (const std::size_t rows : {1u, 7u, 600u}) {
      const Model model(random, rows, classes, 23);
      on_each_path([&] {
        const auto joint = run(model.request, Output::joint), log_posterior = run(model.request, Output::log_posterior);
        for (std::size_t i = 0; i < rows; ++i) {
          std::vector<long double> expected;
          for (std::size_t c = 0; c < classes; ++c) expected.push_back(model.joint(i, c));
          const long double top = *std::max_element(expected.begin(), expected.end());
          long double total = 0;
          for (const long double each : expected) total += std::exp(each - top);
          for (std::size_t c = 0; c < classes; ++c) {
            const std::size_t at = i * classes + c;
            CHECK(std::fabs(joint[at] - expected[c]) <= 1e-13L * (1 + std::fabs(expected[c])));
            CHECK(std::fabs(log_posterior[at] - (expected[c] - top - std::log(total))) <= 1e-12L);
          }
        }
      });
    }
}

TEST(terms_by_cell_are_the_same_bits_on_every_path_and_in_every_block) {
  std::mt19937_64 random(6);
  const Model few(random, 2100, 3, 23), many(random, 300, 70, 23);  // classes: several blocks of rows at a time, or one
  for (const auto& [model, output] : {std::pair{&few, Output::joint}, {&few, Output::posterior}, {&many, Output::posterior}}) {
    std::vector<std::vector<double>> found;
    on_each_path([&, model = model, output = output] { found.push_back(run(model->request, output)); });
    for (const auto& other : found)
      for (std::size_t i = 0; i < other.size(); ++i)
        CHECK(std::bit_cast<std::uint64_t>(other[i]) == std::bit_cast<std::uint64_t>(found[0][i]));
    for (std::size_t row = 0; row < model->rows; row += row < 300 ? 1 : 17) {
      ScoreRequest one = model->request;
      one.rows = 1;
      for (CellTerm& term : one.cells) term.values.data = term.values.at(row), term.values.rows = 1;
      const auto alone = run(one, output);
      for (std::size_t c = 0; c < model->classes; ++c)
        CHECK(std::bit_cast<std::uint64_t>(alone[c]) == std::bit_cast<std::uint64_t>(found[0][row * model->classes + c]));
    }
  }
}

TEST(an_infinite_value_is_impossible_and_strange_parameters_are_safe) {
  std::mt19937_64 random(7);
  Model model(random, 16, 3, 4);
  model.values[0] = INFINITY;
  model.values[4 * 5 + 1] = -INFINITY;
  const auto joint = run(model.request, Output::joint);
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t c = 0; c < 3; ++c) CHECK(std::isinf(joint[i * 3 + c]) == (i == 0 || i == 5));
  const auto check = [&] {
    on_each_path([&] {
      const auto found = run(model.request, Output::joint);
      for (std::size_t i = 0; i < 16; ++i)
        for (std::size_t c = 0; c < 3 && i != 0 && i != 5; ++c) {
          const long double expected = model.joint(i, c);
          CHECK(std::fabs(found[i * 3 + c] - expected) <= 1e-13L * (1 + std::fabs(expected)));
        }
    });
  };
  for (auto& runs : model.run_of) runs[60] = runs[100] = 60000;  // the last
  check();
  // Scales and ratios too far apart for products: wholly in logs
  for (auto& parameters : model.parameters) parameters[1] = 1e-300;
  for (auto& ratios : model.ratios) ratios[0] = INFINITY;
  check();
}

}  // namespace
}  // namespace bayesbox::test
