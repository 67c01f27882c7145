#pragma once

#include <cstdint>
#include <set>

#include "base/elf_object.h"

namespace headrace::abi {

/// Those of these words, which lie in the object's global offset table, whose value its code uses
/// for something else than a call: it may compare the address with one that others tell. x86-64
/// only; on other machines, and if the code cannot be read, all of them.
std::set<std::uintptr_t> words_used(const ElfObject& object, const std::set<std::uintptr_t>& words);

}  // namespace headrace::abi
