// The process's memory: allocations of the engine fail where the injector says so.

#include "faults/injector.h"
#include "unit/allocation_operators.h"

bool headrace::allocation::is_refused() noexcept {
  using headrace::faults::Injector;
  return faults::is_in_engine() &&
         Injector::instance()
             .strike(faults::Operation::memory, faults::rank_of_thread(), 0)
             .has_value();
}
void headrace::allocation::note_taken(void*) noexcept {}
void headrace::allocation::note_given_back(void*) noexcept {}
