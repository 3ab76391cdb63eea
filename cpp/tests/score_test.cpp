#include "table/score.hpp"

#include <bit>

#include "test.hpp"

namespace bayesbox::test {
namespace {

struct Problem {
  std::size_t rows, classes;
  std::vector<double> prior, reals, extra;
  std::vector<std::vector<double>> parameters, tables;
  std::vector<std::int16_t> codes;
  ScoreRequest request;

  Problem(std::mt19937_64& random, std::size_t rows, std::size_t classes, bool impossible) : rows(rows), classes(classes) {
    std::normal_distribution<double> normal;
    const std::size_t width = 5, levels = 6;
    for (std::size_t c = 0; c < classes; ++c) prior.push_back(normal(random));
    for (std::size_t i = 0; i < rows * width; ++i) reals.push_back(random() % 10 == 0 ? std::nan("") : normal(random));
    for (std::size_t i = 0; i < rows * classes; ++i) extra.push_back(normal(random));
    for (std::size_t i = 0; i < rows * 2; ++i) codes.push_back(static_cast<std::int16_t>(random() % 9) - 1);
    for (std::size_t j = 0; j < width; ++j) {
      std::vector<double>& one = parameters.emplace_back();
      for (std::size_t c = 0; c < classes; ++c)
        for (const double value : {normal(random), 1e-17 * normal(random), std::exp(normal(random)), normal(random)}) one.push_back(value);
    }
    for (int j = 0; j < 2; ++j) {
      std::vector<double>& table = tables.emplace_back();
      for (std::size_t i = 0; i < (levels + 1) * classes; ++i)
        table.push_back(impossible && random() % 2 == 0 ? -INFINITY : normal(random));
    }
    request.rows = rows;
    request.classes = classes;
    request.prior = prior.data();
    for (std::size_t j = 0; j < width; ++j) request.gaussians.push_back({column_of(reals, width, j), parameters[j].data()});
    request.tables.push_back({column_of(codes, 2, 0), 0, levels, tables[0].data()});
    request.tables.push_back({column_of(codes, 2, 1), 2, levels, tables[1].data()});
    for (std::size_t c = 0; c < classes; ++c) request.extra.push_back(column_of(extra, classes, c));
  }

  long double joint(std::size_t row, std::size_t c) const {
    long double sum = static_cast<long double>(prior[c]) + extra[row * classes + c];
    for (std::size_t j = 0; j < parameters.size(); ++j) {
      const long double x = reals[row * parameters.size() + j];
      const double* p = parameters[j].data() + 4 * c;
      const long double z = (x - p[0] - p[1]) / p[2];
      if (!std::isnan(x)) sum += p[3] - z * z / 2;
    }
    for (std::size_t j = 0; j < 2; ++j) {
      const int level = codes[row * 2 + j] - (j == 0 ? 0 : 2);
      sum += tables[j][static_cast<std::size_t>(level < 0 || level >= 6 ? 6 : level) * classes + c];
    }
    return sum;
  }
};

std::vector<double> run(const ScoreRequest& request, Output output) {
  std::vector<double> out(request.rows * request.classes);
  score(request, output, out.data(), nullptr);
  return out;
}

bool close(double found, long double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected)) return found == static_cast<double>(expected);
  return std::fabs(found - expected) <= 1e-13L * (1 + std::fabs(expected));
}

TEST(scores_are_those_of_the_formula) {
  std::mt19937_64 random(17);
  for (const std::size_t classes : {1u, 2u, 3u, 4u, 5u, 9u})
    for (const std::size_t rows : {1u, 6u, 256u, 700u})
      for (const bool impossible : {false, true}) {
        const Problem problem(random, rows, classes, impossible);
        on_each_path([&] {
          const auto joint = run(problem.request, Output::joint), log_posterior = run(problem.request, Output::log_posterior);
          const auto posterior = run(problem.request, Output::posterior);
          std::vector<std::int32_t> best(rows);
          score(problem.request, Output::argmax, nullptr, best.data());
          for (std::size_t i = 0; i < rows; ++i) {
            long double top = -INFINITY, total = 0;
            for (std::size_t c = 0; c < classes; ++c) top = std::max(top, problem.joint(i, c));
            for (std::size_t c = 0; c < classes; ++c) total += std::exp(problem.joint(i, c) - top);
            std::size_t first_best = 0;
            for (std::size_t c = 1; c < classes; ++c)
              if (joint[i * classes + c] > joint[i * classes + first_best]) first_best = c;
            const bool none = joint[i * classes + first_best] == -INFINITY;  // no class is possible
            CHECK(best[i] == (none ? -1 : static_cast<std::int32_t>(first_best)));
            for (std::size_t c = 0; c < classes; ++c) {
              const long double expected = problem.joint(i, c);
              CHECK(close(joint[i * classes + c], expected));
              CHECK(close(log_posterior[i * classes + c], expected - top - std::log(total)));
              CHECK(close(posterior[i * classes + c], std::exp(expected - top) / total));
            }
          }
        });
      }
}

TEST(both_paths_give_the_same_bits) {
  std::mt19937_64 random(18);
  for (const std::size_t classes : {2u, 3u, 7u}) {
    const Problem problem(random, 1000, classes, true);
    for (const Output output : {Output::joint, Output::log_posterior, Output::posterior}) {
      std::vector<std::vector<double>> found;
      on_each_path([&] { found.push_back(run(problem.request, output)); });
      for (std::size_t i = 0; i < found[0].size(); ++i)
        CHECK(std::bit_cast<std::uint64_t>(found.front()[i]) == std::bit_cast<std::uint64_t>(found.back()[i]) ||
              (std::isnan(found.front()[i]) && std::isnan(found.back()[i])));
    }
  }
}

// The sums of table terms for few and for many rows, which use tables of sums: the same bits, in every type of column.
template <class T>
void check_table_sums(std::mt19937_64& random, std::size_t terms, std::size_t levels, std::size_t classes) {
  const std::size_t rows = 1500;
  std::normal_distribution<double> normal;
  std::vector<T> codes(rows * terms);
  for (T& code : codes) code = static_cast<T>(random() % (levels + 2));
  std::vector<std::vector<double>> tables(terms);
  const std::vector<double> prior(classes, 0.0);
  ScoreRequest request;
  request.rows = rows;
  request.classes = classes;
  request.prior = prior.data();
  for (std::size_t j = 0; j < terms; ++j) {
    for (std::size_t i = 0; i < (levels + 2) * classes; ++i) tables[j].push_back(normal(random));
    request.tables.push_back({column_of(codes, terms, j), 1, levels, tables[j].data(), false, true});
  }
  on_each_path([&] {
    const auto together = run(request, Output::joint);
    ScoreRequest few = request;
    few.rows = 10;
    const auto apart = run(few, Output::joint);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < classes; ++c) {
        long double expected = 0;
        for (std::size_t j = 0; j < terms; ++j) {
          const auto level = static_cast<std::size_t>(codes[i * terms + j]) - 1;
          expected += tables[j][std::min(level, levels) * classes + c];
        }
        CHECK(close(together[i * classes + c], expected));
        if (i < 10) CHECK(std::bit_cast<std::uint64_t>(together[i * classes + c]) == std::bit_cast<std::uint64_t>(apart[i * classes + c]));
      }
  });
}

TEST(table_sums) {
  std::mt19937_64 random(20);
  for (const std::size_t terms : {1u, 2u, 3u, 4u, 7u, 21u})
    for (const std::size_t levels : {1u, 2u, 3u, 10u, 30u})
      for (const std::size_t classes : {2u, 5u}) {
        check_table_sums<std::uint8_t>(random, terms, levels, classes);
        check_table_sums<std::int32_t>(random, terms, levels, classes);
        check_table_sums<std::int64_t>(random, terms, levels, classes);
        check_table_sums<double>(random, terms, levels, classes);
        check_table_sums<float>(random, terms, levels, classes);
      }
}

TEST(a_double_beside_a_level_is_not_that_level) {
  const std::vector<double> values = {0.0, 1e-17, -0.0, 2.0, 2.0000000000000004, std::nan(""), 1e300, -INFINITY};
  const std::vector<double> prior = {0.0}, table = {1, 2, 4, 8, 16, 32, 64};  // -3 ... 1, others, NaN
  ScoreRequest request;
  request.rows = values.size();
  request.classes = 1;
  request.prior = prior.data();
  request.tables.push_back({column_of(values), -3, 5, table.data(), false, true});
  on_each_path([&] { CHECK((run(request, Output::joint) == std::vector<double>{8, 32, 8, 32, 32, 64, 32, 32})); });
}

TEST(exponentials_are_good_to_the_last_place) {
  std::mt19937_64 random(19);
  std::vector<double> values(4096), top(4096, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = -std::uniform_real_distribution<double>(0, i % 2 == 0 ? 1.0 : 760.0)(random);
  const std::vector<double> given = values;
  on_each_path([&] {
    std::vector<double> found = given;
    kernels().exponentials(found.data(), top.data(), found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const long double exact = std::exp(static_cast<long double>(given[i]));
      const double rounded = static_cast<double>(exact);
      const double unit = std::nextafter(rounded, INFINITY) - rounded;
      CHECK(std::fabs(found[i] - exact) <= 1.0L * unit);
    }
    std::vector<double> special = {-INFINITY, -0.0, 0.0, std::nan(""), -745.13, -745.2, -1e308, -708.5};
    kernels().exponentials(special.data(), top.data(), special.size());
    CHECK(special[0] == 0 && special[1] == 1 && special[2] == 1 && std::isnan(special[3]));
    CHECK(special[4] == 0x1p-1074 && special[5] == 0 && special[6] == 0);
  });
}

TEST(logarithms_are_good_to_the_last_place) {
  std::mt19937_64 random(31);
  std::vector<double> given(4096);
  for (std::size_t i = 0; i < given.size(); ++i)
    given[i] = std::exp(std::uniform_real_distribution<double>(i % 2 == 0 ? -3.0 : -700.0, i % 2 == 0 ? 12.0 : 700.0)(random));
  const auto within_a_place = [](double found, long double exact) {
    const double rounded = static_cast<double>(exact);
    return std::fabs(found - exact) <= std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded);
  };
  on_each_path([&] {
    std::vector<double> plain = given, beside_one = given;
    kernels().logarithms(plain.data(), plain.size());
    kernels().logarithms_beside_one(beside_one.data(), beside_one.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      CHECK(within_a_place(plain[i], std::log(static_cast<long double>(given[i]))));
      CHECK(within_a_place(beside_one[i], std::log1p(static_cast<long double>(given[i]))));
    }
    std::vector<double> special = {0.0, 1.0, 0x1p-1074, std::nan(""), 1.0, 1.0, 1.0, 1.0};  // a multiple of kPad
    kernels().logarithms_beside_one(special.data(), special.size());
    CHECK(special[0] == 0 && special[1] == std::log(2.0) && special[2] == 0x1p-1074 && std::isnan(special[3]));
  });
}

// Rows of one to nine columns of numbers, of which one class of the first column has no inverse of its deviation.
struct Numbers {
  std::vector<std::vector<double>> values, parameters;
  std::vector<double> prior{0.0, -1.0, -2.0};
  ScoreRequest request;

  Numbers(std::mt19937_64& random, std::size_t rows, std::size_t columns, double constant) : values(columns) {
    std::normal_distribution<double> normal;
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i) values[j].push_back(normal(random));
      std::vector<double>& own = parameters.emplace_back();
      for (std::size_t c = 0; c < 3; ++c)
        for (const double value : {normal(random), 0.0, j == 0 && c == 0 ? 1e308 : 2.0, constant + normal(random)}) own.push_back(value);
    }
    request.rows = rows;
    request.classes = 3;
    request.prior = prior.data();
  }

  const ScoreRequest& refer() {
    request.gaussians.clear();
    for (std::size_t j = 0; j < values.size(); ++j) request.gaussians.push_back({column_of(values[j]), parameters[j].data()});
    return request;
  }
};

TEST(a_hole_changes_its_own_row_alone) {
  std::mt19937_64 random(23);
  for (std::size_t columns = 1; columns <= 9; ++columns)
    for (std::size_t hole = 0; hole < columns; ++hole) {
      Numbers numbers(random, 1100, columns, 0.0);
      on_each_path([&] {
        for (const Output output : {Output::joint, Output::posterior}) {
          const std::size_t row = 300 + random() % 500;
          const double kept = numbers.values[hole][row];
          const auto whole = run(numbers.refer(), output);
          numbers.values[hole][row] = std::nan("");
          const auto found = run(numbers.refer(), output);
          numbers.values[hole][row] = kept;
          Numbers without = numbers;
          without.values.erase(without.values.begin() + static_cast<std::ptrdiff_t>(hole));
          without.parameters.erase(without.parameters.begin() + static_cast<std::ptrdiff_t>(hole));
          const auto expected = run(without.refer(), output);
          for (std::size_t i = 0; i < whole.size(); ++i)
            if (i / 3 == row)
              CHECK(close(found[i], expected[i]));
            else
              CHECK(found[i] == whole[i]);
        }
      });
    }
}

TEST(posteriors_of_numbers_of_any_scale_keep_their_digits) {
  std::mt19937_64 random(29);
  for (std::size_t columns = 1; columns <= 9; ++columns) {
    Numbers numbers(random, 50, columns, -690.0);
    on_each_path([&] {
      const auto found = run(numbers.refer(), Output::posterior);
      for (std::size_t i = 0; i < 50; ++i) {
        long double joint[3], top = -INFINITY, total = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          joint[c] = numbers.prior[c];
          for (std::size_t j = 0; j < columns; ++j) {
            const double* p = numbers.parameters[j].data() + 4 * c;
            const long double z = (static_cast<long double>(numbers.values[j][i]) - p[0]) / p[2];
            joint[c] += p[3] - z * z / 2;
          }
          top = std::max(top, joint[c]);
        }
        for (const long double one : joint) total += std::exp(one - top);
        for (std::size_t c = 0; c < 3; ++c) CHECK(std::fabs(found[3 * i + c] - std::exp(joint[c] - top) / total) <= 1e-14L);
      }
    });
  }
}

TEST(extreme_deviations) {
  const std::vector<double> values = {0.0, 3e-310, 1.0, 1e300};
  const std::vector<double> prior = {0.0, 0.0, 0.0};
  // a deviation whose inverse is infinite, a point mass, a deviation whose inverse is subnormal
  const std::vector<double> parameters = {0, 0, 3e-310, 1, 0, 0, 0, 1, 0, 0, 1e308, 1};
  ScoreRequest request;
  request.rows = 4;
  request.classes = 3;
  request.prior = prior.data();
  request.gaussians.push_back({column_of(values), parameters.data()});
  on_each_path([&] {
    const auto found = run(request, Output::joint);
    CHECK(found[0] == 1 && found[1] == 1 && found[2] == 1);
    CHECK(found[3] == 0.5 && found[4] == -INFINITY && found[5] == 1);
    CHECK(found[6] == -INFINITY && found[7] == -INFINITY && found[8] == 1);
    CHECK(found[9] == -INFINITY && std::fabs(found[11] - (1 - 0.5e-16)) < 1e-15);
  });
}

}  // namespace
}  // namespace bayesbox::test
