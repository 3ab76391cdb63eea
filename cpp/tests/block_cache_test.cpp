#include "core/block_cache.hpp"

#include <cstring>
#include <vector>

#include "test.hpp"

namespace bayesbox::test {
namespace {

TEST(blocks_come_back) {
  BlockCache cache;
  constexpr std::size_t kSize = 100'000;
  void* first = cache.take(kSize);
  std::memset(first, 1, kSize);
  cache.give(first, kSize);
  CHECK(cache.take(kSize - 1) == first);  // of the same number of pages
  void* second = cache.take(kSize);
  CHECK(second != first);
  cache.give(first, kSize);
  cache.give(second, kSize);
  CHECK(cache.take(kSize) == second);
  CHECK(cache.take(kSize) == first);
  cache.give(first, kSize);
  cache.give(second, kSize);
  for (int round = 0; round < 40; ++round) {  // more than is kept: the oldest are freed, none twice
    void* large = cache.take(std::size_t{1} << 20);
    std::memset(large, 2, std::size_t{1} << 20);
    std::vector<void*> many;
    for (int k = 0; k < 40; ++k) many.push_back(cache.take(std::size_t{1} << 20));
    for (void* each : many) cache.give(each, std::size_t{1} << 20);
    cache.give(large, std::size_t{1} << 20);
  }
  cache.give(cache.take(0), 0);
  cache.give(cache.take(10), 10);
  cache.give(cache.take(std::size_t{1} << 26), std::size_t{1} << 26);
  cache.give(nullptr, 5);
}

}  // namespace
}  // namespace bayesbox::test
