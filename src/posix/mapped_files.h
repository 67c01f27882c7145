#pragma once

#include "posix/held_blocks.h"

/// Files that the program has mapped to share them: a mapping outlives its descriptor, and shows at
/// once what others write. Safe in signal handlers.
namespace headrace::posix {

/// Of a descriptor; does nothing if that leads to none.
void note_shared_mapping(int descriptor) noexcept;

/// Whether it ever was, as far as is known: also true where another file cannot be told from one
/// that was.
bool was_mapped(const FileIdentity& file) noexcept;

}  // namespace headrace::posix
