#pragma once

#include <atomic>
#include <cstdint>

#include "base/held_descriptor.h"
#include "posix/descriptor_buffer.h"
#include "posix/name_end.h"

namespace headrace::posix::buffers {

/// How many descriptors have buffers at a time.
inline constexpr std::size_t kBufferSlots = 64;

/// What belongs to a descriptor that has a buffer. Guarded by the buffer's lock, once its
/// descriptor's number leads here.
struct BufferSlot {
  enum class Later : int { nothing, release, end };

  DescriptorBuffer buffer;
  HeldDescriptor claim;  ///< tells other processes that this one writes the file
  std::atomic<bool> is_taken = false;
  std::atomic<bool> is_on = false;  ///< false: only `unreported_error` is left
  bool is_verbose = false;
  std::atomic<bool> notes_write = false;  ///< the first one, since other nodes may reach the file
  int unreported_error = 0;               ///< an errno of what was lost, for a later call
  bool is_told = false;                   ///< a line has told of that, or of bytes held back
  /// What a handler wants that has interrupted the lock's holder.
  std::atomic<Later> later = Later::nothing;
  std::int64_t checked = 0;  ///< in ticks, when the descriptor was last seen to be this file
  NameEnd name;

  void set_file(const FileIdentity& file) noexcept;
  /// Without the lock: who holds it may not go on before the caller does.
  bool is_of(const FileIdentity& file) const noexcept {
    return is_on && device_ == file.device && inode_ == file.inode;
  }

  void clear() noexcept;

  // For people.
  void tell_end() const noexcept;
  void tell_lost(std::int64_t bytes) const noexcept;
  void tell_busy(std::int64_t bytes) const noexcept;

 private:
  std::atomic<std::uint64_t> device_ = 0;
  std::atomic<std::uint64_t> inode_ = 0;
};

/// What was buffered could not be written, and no call can tell it.
void tell_failed(int error) noexcept;

}  // namespace headrace::posix::buffers
