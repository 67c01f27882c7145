#pragma once

/// Calls of open, read, write and the like (posix/functions.h) are counted in the program and in
/// the libraries that it uses: their slots lead to stand-ins. What the MPI library does with files
/// is not the program's: its objects are left alone, as is what only they need.
namespace headrace::abi {

/// Whether the recorder runs and wants files. Looks the functions up: call it before a lock of the
/// dynamic linker may be held.
bool wants_io() noexcept;

/// Leads the slots of those objects to stand-ins that were not looked at before. Throws
/// std::bad_alloc.
void lead_io_slots();

}  // namespace headrace::abi
