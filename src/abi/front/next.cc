#include "abi/front/next.h"

#include <dlfcn.h>

#include <array>
#include <atomic>

#include "abi/flavour.h"
#include "abi/front/entry_table.h"
#include "abi/front/front_library.h"
#include "base/message.h"

namespace headrace::abi {
namespace {

std::atomic<void*> native_library = nullptr;
std::array<std::atomic<void*>, 8> fortran_libraries = {};
std::atomic<void*> next_table[2][kEntryCount] = {};

/// Stands for a procedure that no object in this process has.
int missing_procedure() {
  print_message_once(
      "an MPI procedure was called but found nowhere (the MPI library is not among the loaded "
      "objects), link it dynamically or unset LD_PRELOAD");
  return 1;
}

/// Stands for MPI_Initialized and MPI_Finalized there: libraries that can do without MPI ask by a
/// weak reference, which finds us.
int say_no(int* flag) {
  *flag = 0;
  return 0;
}

void* stand_in_of(Entry entry) {
  const bool asks = entry == Entry::Initialized || entry == Entry::Finalized;
  return asks ? reinterpret_cast<void*>(&say_no) : reinterpret_cast<void*>(&missing_procedure);
}

void* look_up_fortran(const char* symbol) {
  void* found = ::dlsym(RTLD_NEXT, symbol);
  for (const auto& place : fortran_libraries) {
    void* const library = place.load(std::memory_order_acquire);
    if (found == nullptr && library != nullptr) found = ::dlsym(library, symbol);
  }
  return found;
}

void* look_up_c(Name name, Entry entry, const char* symbol) {
  void* const library = native_library.load(std::memory_order_acquire);
  if (name == Name::pmpi) return ::dlsym(library != nullptr ? library : RTLD_NEXT, symbol);
  void* found = ::dlsym(RTLD_NEXT, symbol);
  // A front library may follow us beside a preload; what it defines leads back here.
  const bool may_be_front = static_cast<int>(entry) >= kExportedCount;
  if (found != nullptr && may_be_front && is_in_front_library(found)) found = nullptr;
  if (found == nullptr && library != nullptr) found = ::dlsym(library, symbol);
  return found;
}

void* look_up(Name name, Entry entry) {
  void* found = nullptr;
  visit_symbols(name, entry, [&](const char* symbol) {
    found = is_fortran(entry) ? look_up_fortran(symbol) : look_up_c(name, entry, symbol);
    return found != nullptr;
  });
  return found;
}

}  // namespace

void set_next_library(void* library) {
  native_library.store(library, std::memory_order_release);
}

void add_fortran_library(void* library) {
  for (auto& place : fortran_libraries) {
    void* expected = nullptr;
    if (place.compare_exchange_strong(expected, library, std::memory_order_acq_rel)) return;
    if (expected == library) return;
  }
}

bool is_missing(void* function) {
  return function == reinterpret_cast<void*>(&missing_procedure) ||
         function == reinterpret_cast<void*>(&say_no);
}

void* next_function(Name name, Entry entry) {
  auto& place = next_table[static_cast<int>(name)][static_cast<int>(entry)];
  void* function = place.load(std::memory_order_acquire);
  if (function != nullptr) return function;
  function = look_up(name, entry);
  if (function == nullptr) return stand_in_of(entry);
  if (native_library.load(std::memory_order_acquire) != nullptr) {
    place.store(function, std::memory_order_release);
  }
  return function;
}

}  // namespace headrace::abi
