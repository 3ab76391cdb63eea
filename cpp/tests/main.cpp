#include <cstdio>
#include <exception>

#include "test.hpp"

int main() {
  using namespace bayesbox::test;
  int passed = 0, failed = 0;
  for (const Case& one : cases()) {
    const int before = failures();
    try {
      one.body();
    } catch (const std::exception& error) {
      fail(one.name, 0, error.what());
    }
    if (failures() == before) {
      ++passed;
    } else {
      ++failed;
      std::printf("FAILED %s\n", one.name);
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
