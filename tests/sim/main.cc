#include <gtest/gtest.h>

#include <cstdlib>

int main(int count, char** arguments) {
  // Cases make hints that are refused, on purpose.
  setenv("HEADRACE_QUIET", "1", 0);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
