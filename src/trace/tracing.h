#pragma once

#include <string_view>

#include "trace/traced_functions.h"

/// Calls of functions are counted and timed. The recorder must have started.
namespace headrace::trace {

/// Begins, as the settings say: functions that are called by their object's own code are patched.
/// Those that are called through slots follow by stand_in_for(). What is in the way is told once.
void start_tracing() noexcept;

/// Calls that are under way in this thread end now, and no others are traced. Does nothing if
/// nothing is traced, or in a forked child.
void stop_tracing() noexcept;

/// Whether slots of the program's objects are to be looked at.
bool wants_slots() noexcept;

/// Whether calls of a function of this name may be wanted, whoever defines it.
bool may_be_wanted(std::string_view function) noexcept;

/// What a slot is to be led to in the place of `target`; null: to that. Callers take turns. Throws
/// std::bad_alloc.
const void* stand_in_for(std::string_view function, std::string_view library, const void* target);

}  // namespace headrace::trace
