#include "posix/buffer_use.h"

#include <unistd.h>

#include <cerrno>

#include "posix/buffer_decisions.h"
#include "record/clock.h"

namespace headrace::posix::buffers {
namespace {

/// A descriptor is looked at again after so many ticks, about a millisecond: it may have been
/// closed past the C library, and its number be another file's.
constexpr std::int64_t kCheckTicks = std::int64_t{1} << 21;

void forget(BufferSlot& slot) noexcept {
  auto number = static_cast<std::uint8_t>(&slot - tables->slots.data() + 1);
  // A handler may have closed the descriptor, and opened another file by its number.
  numbers[slot.buffer.descriptor()].compare_exchange_strong(number, 0);
  slot.clear();
  count.fetch_sub(1);
}

/// Of a slot whose lock is held. An errno that is to be told, or 0.
int end_slot(BufferSlot& slot) noexcept {
  int error = slot.untold;
  if (slot.is_on) {
    const std::int64_t held = slot.buffer.held();
    const bool is_intact = held == 0 || slot.buffer.is_intact();
    // A child of vfork has descriptors of its own.
    if (!is_intact && !is_in_own_process()) return 0;
    const int failed = slot.buffer.leave();
    if (error == 0 && is_intact) error = failed;
    if (!is_intact) slot.tell_lost(held);
    slot.tell_end();
  }
  forget(slot);
  return error;
}

/// Whether the slot still has something to tell.
bool release_slot(BufferSlot& slot, const char* why) noexcept {
  if (!slot.is_on) return true;
  if (slot.buffer.held() > 0 && !slot.buffer.is_intact()) {
    static_cast<void>(end_slot(slot));
    return false;
  }
  note_release(why, slot.name.text(), slot.is_verbose);
  slot.untold = slot.buffer.leave();
  slot.tell_end();
  slot.is_on = false;
  if (slot.untold == 0) forget(slot);
  return slot.untold != 0;
}

}  // namespace

Tables* tables = nullptr;

bool is_in_own_process() noexcept {
  return is_in_own_memory() && posix::is_in_own_process();
}

Use::Use(int descriptor) noexcept {
  if (!has(descriptor) || !is_in_own_memory()) return;
  const std::uint8_t number = numbers[descriptor].load();
  if (number != 0) take(tables->slots[number - 1], descriptor);
}

Use::~Use() {
  if (slot_ == nullptr || interrupts_) return;
  switch (slot_->later.exchange(BufferSlot::Later::nothing)) {
    case BufferSlot::Later::nothing: break;
    case BufferSlot::Later::release:
      if (!is_gone_) static_cast<void>(release_slot(*slot_, "a handler has used it otherwise"));
      break;
    case BufferSlot::Later::end:
      if (!is_gone_) static_cast<void>(end_slot(*slot_));
      break;
  }
  slot_->buffer.lock.give_back();
}

void Use::take(BufferSlot& slot, int descriptor) noexcept {
  interrupts_ = !slot.buffer.lock.take();
  slot_ = &slot;
  if (slot.is_taken && slot.buffer.descriptor() == descriptor) return;
  if (!interrupts_) slot.buffer.lock.give_back();
  slot_ = nullptr;
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
  if (!interrupts_) static_cast<void>(end_slot(*slot_));
  is_gone_ = !interrupts_;
  return true;
}

int Use::take_untold() noexcept {
  if (is_gone_ || interrupts_ || slot_->is_on) return 0;
  const int error = slot_->untold;
  forget(*slot_);
  is_gone_ = true;
  return error;
}

void Use::settle() noexcept {
  if (!slot_->is_on) return;
  if (interrupts_) {
    static_cast<void>(buffer().write_held());
  } else {
    buffer().drop();
    if (buffer().flush() == EBADF) static_cast<void>(is_lost());
  }
}

void Use::release(const char* why) noexcept {
  if (!interrupts_) {
    is_gone_ = !release_slot(*slot_, why);
    return;
  }
  static_cast<void>(buffer().write_held());
  buffer().set_kernel_position();
  slot_->later = BufferSlot::Later::release;
}

int Use::end() noexcept {
  if (!interrupts_) {
    is_gone_ = true;
    return end_slot(*slot_);
  }
  slot_->later = BufferSlot::Later::end;
  numbers[buffer().descriptor()].store(0);
  return buffer().write_held();
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
