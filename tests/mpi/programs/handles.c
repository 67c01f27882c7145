// The cases of handles alone, as a program that is linked in another way or loaded.
//
//   handles [--only CASE,...] DIRECTORY
#include "exercise.h"

int main(int argc, char** argv) {
  size_t count = 0;
  while (handle_cases[count].name) count++;
  return run_cases(argc, argv, handle_cases, count);
}
