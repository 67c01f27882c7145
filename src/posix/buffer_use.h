#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/blocked_signals.h"
#include "base/kept_errno.h"
#include "posix/buffer_request.h"
#include "posix/buffer_slot.h"
#include "posix/descriptor_buffers.h"
#include "posix/descriptors.h"

/// Who uses a descriptor's buffer has its lock: what the calls of descriptor_buffers.h are made of.
namespace headrace::posix::buffers {

struct Tables {
  std::array<std::atomic<std::uint8_t>, kDescriptors> numbers;
  std::array<BufferSlot, kBufferSlots> slots;
  std::atomic<FindBufferRequest> find_request;  ///< null once no file is to get any
};

/// Null until start().
extern Tables* tables;

/// False in a child that has memory of its own.
inline bool is_in_own_memory() noexcept {
  return tables != nullptr && may_be_own_process();
}

/// False also in a child that shares this memory until it executes another program.
bool is_in_own_process() noexcept;

/// A slot, with its lock, while it lives. Takes what a handler has asked for meanwhile.
class Use {
 public:
  /// That of a descriptor, if it has one.
  explicit Use(int descriptor) noexcept;
  /// This one, if its lock can be had within so many naps.
  Use(BufferSlot& slot, unsigned& naps) noexcept;
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  explicit operator bool() const { return slot_ != nullptr; }
  BufferSlot& slot() const { return *slot_; }
  DescriptorBuffer& buffer() const { return slot_->buffer; }
  /// Whether a handler has interrupted this thread's use of the buffer.
  bool interrupts() const { return interrupts_; }
  /// Whether a handler that has interrupted this use has closed the descriptor.
  bool was_ended() const noexcept;

  /// Whether the buffer is in use, and its descriptor still leads to its file.
  bool is_on() noexcept;
  /// Ends a buffer whose descriptor was closed unseen.
  bool is_lost() noexcept;
  bool is_gone() const { return is_gone_; }
  /// An error of a descriptor whose buffer is gone; told once.
  int take_unreported_error() noexcept;

  // As far as it can be done now, where a handler has interrupted another use.
  /// Writes what is held back. An errno, or 0.
  int write_held() noexcept;
  /// The same; an error is told later.
  void settle() noexcept;
  void release(const char* why) noexcept;
  /// An errno that is to be told, or 0.
  int end() noexcept;

 private:
  bool take(BufferSlot& slot, unsigned* naps) noexcept;
  void forget() noexcept;
  int end_slot() noexcept;
  bool release_slot(const char* why) noexcept;

  BufferSlot* slot_ = nullptr;
  bool interrupts_ = false;
  bool is_gone_ = false;  ///< another thread may be about to take the slot
  /// Until the lock is given back: a handler that jumped out would leave a slot half cleared.
  std::optional<BlockedSignals> blocked_;
};

/// With its lock; null: none is left.
BufferSlot* take_slot() noexcept;

/// A thread may hold a lock for good, as a handler has stopped it, and stops all others. So what is
/// not about its file waits this long for it, about a second.
inline constexpr unsigned kNaps = 10'000;

/// Calls action(use) for each one that is in use, and for which is_meant(slot).
template <class Is, class Do>
void for_each_slot(Is is_meant, Do action) noexcept {
  if (!any() || !is_in_own_memory()) return;
  const KeptErrno kept;
  unsigned naps = kNaps;
  for (BufferSlot& slot : tables->slots) {
    if (!slot.is_taken || !is_meant(slot)) continue;
    Use use(slot, naps);
    if (use) action(use);
  }
}

template <class Do>
void for_each_slot(Do action) noexcept {
  for_each_slot([](const BufferSlot&) { return true; }, action);
}

}  // namespace headrace::posix::buffers
