#pragma once

#include "base/settled_objects.h"

/// Calls of open, read, write and the like (posix/stand_ins.h) are counted, or get buffers, in the
/// program and in the libraries that it uses: their slots lead to stand-ins. What the MPI library
/// does with files is not the program's: its objects are left alone, as is what only they need.
namespace headrace::abi {

/// Whether the recorder runs and wants files, or files may get buffers. Looks the functions up.
/// Call it once, in MPI_Init.
bool start_io() noexcept;

/// Whether objects were loaded whose slots lead_io_slots() has not seen.
bool may_have_new_io() noexcept;

/// Leads the slots of those objects to stand-ins that were not looked at before. Throws
/// std::bad_alloc.
void lead_io_slots(const SettledObjects& settled);

}  // namespace headrace::abi
