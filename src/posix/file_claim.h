#pragma once

#include "base/held_descriptor.h"
#include "posix/descriptor_buffer.h"

/// Who else has a file open, as far as that can be found out without touching the file: leases and
/// locks on it would be seen by others, and ask network file systems. Functions take no lock and no
/// memory, keep errno, and take little stack.
namespace headrace::posix {

enum class Sharing {
  none,
  in_process,  ///< another descriptor of this process leads to it, and one of both may write
  mapped,      ///< the program has mapped it, maybe for longer than any descriptor is open
  in_node,     ///< another process of this node writes it through buffers
  unknown,
};

/// Looks at all descriptors of this process.
Sharing find_in_process(int descriptor, const FileIdentity& file, bool may_write) noexcept;

/// Claims the file for writing, among the processes of this node that ask for it, as long as
/// `claim` lives; without it, only looks whether another has it.
Sharing find_in_node(const FileIdentity& file, HeldDescriptor* claim) noexcept;

}  // namespace headrace::posix
