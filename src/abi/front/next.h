#pragma once

#include "abi/feature.h"

namespace headrace::abi {

/// Tells next_function() which library PMPI_X is taken from.
void set_next_library(void* library);

/// Tells next_function() of an object that has Fortran's procedures.
void add_fortran_library(void* library);

constexpr bool is_fortran(Entry entry) {
  return static_cast<int>(entry) >= kFortranBegin;
}

/// Visits the symbols of a procedure, the usual one first, until `visit` returns true.
template <class Visit>
void visit_symbols(Name name, Entry entry, Visit visit) {
  const auto index = static_cast<int>(name);
  if (visit(entry_symbols[static_cast<int>(entry)][index])) return;
  if (!is_fortran(entry)) return;
  for (const Alias& alias : entry_aliases) {
    if (alias.entry == entry && alias.name == index && visit(alias.symbol)) return;
  }
}

/// Whether `function` is the stand-in that next_function() returns for a missing procedure.
bool is_missing(void* function);

}  // namespace headrace::abi
