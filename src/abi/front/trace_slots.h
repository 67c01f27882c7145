#pragma once

#include "base/settled_objects.h"

/// Calls of functions that are to be traced (trace/tracing.h) are led to stubs, in the program and
/// in the libraries that it uses, but for those of MPI.
namespace headrace::abi {

/// Whether any are wanted. Call it once, when MPI runs, behind note_objects_after_init().
bool start_traces() noexcept;

/// Whether objects were loaded whose slots lead_traced_slots() has not seen.
bool may_have_new_traces() noexcept;

/// Leads the slots of those objects to stubs that were not looked at before. Throws std::bad_alloc.
void lead_traced_slots(const SettledObjects& settled);

}  // namespace headrace::abi
