#include "record/record_switch.h"

#include <mutex>

#include "record/change_log.h"
#include "record/clock.h"
#include "record/recorder.h"
#include "record/switch_log.h"

namespace headrace::record {
namespace {

struct Switch {
  std::mutex mutex;                      ///< of those who switch
  std::atomic<std::uint32_t> turns = 0;  ///< odd while the two numbers change
  std::atomic<std::int64_t> off_ticks = 0;
  std::atomic<std::int64_t> off_since = 0;  ///< 0: it is on
  ChangeLog<256> log;                       ///< 1: it is off
};

constinit Switch own;

/// The same in the image, for those who read it.
void write_down() noexcept {
  ImageFile* const file = image();
  if (file == nullptr) return;
  file->header().off_ticks = own.off_ticks;
  file->header().off_since = own.off_since;
}

void set(std::int64_t off_ticks, std::int64_t off_since) noexcept {
  own.turns.fetch_add(1);
  own.off_ticks.store(off_ticks);
  own.off_since.store(off_since);
  own.turns.fetch_add(1);
  write_down();
}

}  // namespace

std::atomic<bool> is_switched_off = false;

bool was_switched_off(std::int64_t then) noexcept {
  return own.log.at(then).value_or(0) != 0;
}

bool switch_recording(bool on) noexcept {
  const std::lock_guard lock(own.mutex);
  const bool before = !is_switched_off.exchange(!on);
  own.log.add(ticks(), on ? 0 : 1);
  if (before == on || !is_recording.load()) return before;
  const std::int64_t now = ticks();
  if (on) {
    set(own.off_ticks + now - own.off_since, 0);
  } else {
    set(own.off_ticks, now);
  }
  return before;
}

std::int64_t recorded_ticks() noexcept {
  for (;;) {
    const std::uint32_t turn = own.turns.load(std::memory_order_acquire);
    const std::int64_t since = own.off_since.load(std::memory_order_acquire);
    const std::int64_t off = own.off_ticks.load(std::memory_order_acquire);
    const std::int64_t now = since != 0 ? since : ticks();
    if (turn % 2 == 0 && own.turns.load(std::memory_order_acquire) == turn) return now - off;
  }
}

void begin_recorded_ticks(std::int64_t begin) noexcept {
  const std::lock_guard lock(own.mutex);
  set(0, is_switched_off ? begin : 0);
}

}  // namespace headrace::record
