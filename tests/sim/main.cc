#include <gtest/gtest.h>

#include <cstdlib>

int main(int count, char** arguments) {
  // Cases make hints that are refused, on purpose.
  setenv("HEADRACE_QUIET", "1", 0);
  // Which path calls take must not depend on where threads run.
  setenv("HEADRACE_CORE_DISTANCE", "80", 0);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
