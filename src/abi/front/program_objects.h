#pragma once

#include <set>
#include <string>

#include "base/elf_object.h"

/// Which of the process's objects are the program's: it, and the libraries that it uses. What the
/// MPI library does is not the program's: its objects are left alone, as is what only they need.
namespace headrace::abi {

/// Call it right before the library's MPI_Init: what that loads is the library's own.
void note_objects_before_init() noexcept;

/// Call it once, when MPI runs. False without memory.
bool note_objects_after_init() noexcept;

/// The program's objects, by name_of(). Throws std::bad_alloc.
std::set<std::string> program_objects();

/// Its soname, or its file's name; the program's is empty.
std::string name_of(const ElfObject& object);

/// The C library, which its own functions do not reach through slots, and the dynamic linker.
bool is_of_system(const ElfObject& object);

}  // namespace headrace::abi
