#include "posix/buffer_use.h"

#include <unistd.h>

#include <cerrno>

#include "base/no_cancellation.h"
#include "posix/buffer_decisions.h"
#include "record/clock.h"

namespace headrace::posix::buffers {
namespace {

/// A descriptor is looked at again after so many ticks, about a millisecond: it may have been
/// closed past the C library, and its number be another file's.
constexpr std::int64_t kCheckTicks = std::int64_t{1} << 21;

}  // namespace

Tables* tables = nullptr;

bool is_in_own_process() noexcept {
  return is_in_own_memory() && posix::is_in_own_process();
}

Use::Use(int descriptor) noexcept {
  if (!has(descriptor) || !is_in_own_memory()) return;
  // A handler, or another thread, may give the number to another slot before the lock is taken.
  while (const std::uint8_t number = numbers[descriptor].load()) {
    if (!take(tables->slots[number - 1], nullptr)) return;
    if (slot_->is_taken && slot_->buffer.descriptor() == descriptor) return;
    if (!interrupts_) slot_->buffer.lock.give_back();
    slot_ = nullptr;
    if (interrupts_) return;
  }
}

Use::Use(BufferSlot& slot, unsigned& naps) noexcept {
  if (!take(slot, &naps) || slot.is_taken) return;
  if (!interrupts_) slot.buffer.lock.give_back();
  slot_ = nullptr;
}

Use::~Use() {
  if (slot_ == nullptr || interrupts_) return;
  const auto later = slot_->later.exchange(BufferSlot::Later::nothing);
  if (later != BufferSlot::Later::nothing && !is_gone_) {
    const KeptErrno kept;
    if (later == BufferSlot::Later::release) {
      static_cast<void>(release_slot("a signal handler used it in another way"));
    } else {
      // The number is another file's by now.
      slot_->tell_end();
      forget();
    }
  }
  slot_->buffer.lock.give_back();
}

bool Use::take(BufferSlot& slot, unsigned* naps) noexcept {
  const HandlerLock::Taken taken = slot.buffer.lock.take(naps);
  if (taken == HandlerLock::Taken::no) return false;
  interrupts_ = taken == HandlerLock::Taken::interrupting;
  slot_ = &slot;
  return true;
}

void Use::forget() noexcept {
  const NoCancellation uncancelled;
  blocked_.emplace();
  is_gone_ = true;
  const int descriptor = slot_->buffer.descriptor();
  auto number = static_cast<std::uint8_t>(slot_ - tables->slots.data() + 1);
  // A handler may have closed the descriptor, and opened another file by its number.
  if (descriptor >= 0) numbers[descriptor].compare_exchange_strong(number, 0);
  slot_->clear();
  count.fetch_sub(1);
}

/// An errno that is to be told, or 0.
int Use::end_slot() noexcept {
  const NoCancellation uncancelled;
  int error = slot_->unreported_error;
  if (slot_->is_on) {
    const std::int64_t held = buffer().held();
    const bool is_intact = held == 0 || buffer().is_intact();
    // A child of vfork has descriptors of its own.
    if (!is_intact && !is_in_own_process()) return 0;
    const int failed = buffer().leave();
    if (error == 0 && is_intact) error = failed;
    if (!is_intact) slot_->tell_lost(held);
    slot_->tell_end();
  }
  forget();
  return error;
}

/// Whether the slot still has something to tell.
bool Use::release_slot(const char* why) noexcept {
  const NoCancellation uncancelled;
  if (!slot_->is_on) return true;
  if (buffer().held() > 0 && !buffer().is_intact()) {
    static_cast<void>(end_slot());
    return false;
  }
  note_release(why, slot_->name.text(), slot_->is_verbose);
  slot_->unreported_error = buffer().leave();
  slot_->is_told = false;
  slot_->tell_end();
  slot_->is_on = false;
  if (slot_->unreported_error == 0) forget();
  return slot_->unreported_error != 0;
}

bool Use::was_ended() const noexcept {
  return !interrupts_ && slot_->later == BufferSlot::Later::end;
}

bool Use::is_on() noexcept {
  if (slot_ == nullptr || !slot_->is_on) return false;
  const std::int64_t now = record::ticks();
  if (interrupts_ || now - slot_->checked < kCheckTicks) return true;
  slot_->checked = now;
  return !is_lost();
}

bool Use::is_lost() noexcept {
  if (is_gone_) return true;
  if (slot_->buffer.is_intact() || !is_in_own_process()) return false;
  if (!interrupts_) static_cast<void>(end_slot());
  return true;
}

int Use::take_unreported_error() noexcept {
  if (is_gone_ || interrupts_ || slot_->is_on) return 0;
  const int error = slot_->unreported_error;
  forget();
  return error;
}

int Use::write_held() noexcept {
  if (!slot_->is_on) return 0;
  if (!interrupts_) buffer().drop();
  const int error = interrupts_ ? buffer().write_held() : buffer().flush();
  if (error != EBADF) return error;
  if (!interrupts_) static_cast<void>(is_lost());
  return 0;
}

void Use::settle() noexcept {
  const int error = write_held();
  if (!is_gone_) buffer().owed.note(error);
}

void Use::release(const char* why) noexcept {
  if (!interrupts_) {
    static_cast<void>(release_slot(why));
    return;
  }
  buffer().owed.note(buffer().write_held());
  buffer().set_kernel_position();
  if (slot_->later != BufferSlot::Later::end) slot_->later = BufferSlot::Later::release;
}

int Use::end() noexcept {
  if (!interrupts_) return end_slot();
  const int error = buffer().owed.told_with(buffer().write_held());
  slot_->later = BufferSlot::Later::end;
  buffer().held_blocks().close();
  numbers[buffer().descriptor()].store(0);
  return error;
}

BufferSlot* take_slot() noexcept {
  for (BufferSlot& slot : tables->slots) {
    bool none = false;
    if (!slot.is_taken.compare_exchange_strong(none, true)) continue;
    if (slot.buffer.lock.take()) return &slot;
    slot.is_taken = false;
  }
  return nullptr;
}

}  // namespace headrace::posix::buffers
