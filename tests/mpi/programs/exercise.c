// Exercises MPI file I/O case by case. Each case checks the answers of the standard by itself and
// leaves its files behind, so that a run with the layer can also be compared with a run without.
//
//   exercise [--deep] [--only CASE,...] [--skip CASE,...] DIRECTORY
#include "exercise.h"

#include <stdlib.h>

int main(int argc, char** argv) {
  const Case* const lists[] = {
      open_cases,  position_cases, view_cases,         transfer_cases,     error_cases,
      order_cases, argument_cases, edge_cases,         size_cases,         nonblocking_cases,
      split_cases, shared_cases,   mode_cases,         atomic_cases,       thread_cases,
      many_cases,  datarep_cases,  datarep_type_cases, datarep_user_cases, completion_cases,
      handle_cases};
  Case all[256];
  size_t count = 0;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    for (const Case* entry = lists[i]; entry->name; entry++) {
      if (count == sizeof all / sizeof *all) abort();
      all[count++] = *entry;
    }
  }
  return run_cases(argc, argv, all, count);
}
