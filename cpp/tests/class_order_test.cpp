// Rows sorted by class, a vector of labels at a time or by counting, are the rows of each class in their order.
#include "table/class_order.hpp"

#include <random>
#include <vector>

#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(rows_of_a_class_are_one_run_in_their_order) {
  std::mt19937 random(7);
  on_each_path([&] {
    for (std::size_t classes = 1; classes <= 12; ++classes)
      for (std::size_t count = 0; count <= 70; ++count) {
        const std::size_t step = 1 + random() % 2;  // labels side by side, or not
        std::vector<std::int32_t> labels(2 * count + 6);
        for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % (classes + 2)) - 1;
        const Column target{reinterpret_cast<const char*>(labels.data()), static_cast<std::int64_t>(4 * step), count + 3, Kind::int32};
        ClassOrder order(classes, count);
        order.sort(target, 3, count);
        std::size_t next = 0;
        for (std::size_t label = 0; label < classes; ++label) {
          std::vector<std::uint32_t> rows;
          for (std::size_t row = 0; row < count; ++row)
            if (labels[(row + 3) * step] == static_cast<std::int32_t>(label)) rows.push_back(static_cast<std::uint32_t>(row));
          if (rows.empty()) continue;
          const Run& run = order.runs().at(next++);
          CHECK(run.label == label && run.count == rows.size() && run.begin % kPad == 0);
          CHECK(std::vector<std::uint32_t>(order.order() + run.begin, order.order() + run.begin + run.count) == rows);
        }
        CHECK(next == order.runs().size());
      }
  });
}

}  // namespace
}  // namespace bayesbox::test
