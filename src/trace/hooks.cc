#include "trace/hooks.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>

#include "base/kept_errno.h"
#include "base/mixed_hash.h"
#include "record/record_switch.h"
#include "trace/handler_frame.h"
#include "trace/thread_trace.h"

namespace headrace::trace {
namespace {

/// Addresses and numbers of functions, open-addressed. Readers take no lock.
class HookedFunctions {
 public:
  /// kNoFunction: it is known that it is not traced. False: nothing is known.
  bool find(const void* address, std::uint32_t& number) const noexcept {
    for (std::size_t i = place(address), tried = 0; tried < kPlaces;
         i = (i + 1) % kPlaces, ++tried) {
      const void* const there = places_[i].address.load(std::memory_order_acquire);
      if (there == address) {
        number = places_[i].number;
        return true;
      }
      if (there == nullptr) return false;
    }
    return true;
  }

  /// Callers take turns.
  void add(const void* address, std::uint32_t number) noexcept {
    if (used_ == kMost) return;
    std::size_t i = place(address);
    while (places_[i].address.load(std::memory_order_relaxed) != nullptr) i = (i + 1) % kPlaces;
    places_[i].number = number;
    places_[i].address.store(address, std::memory_order_release);
    ++used_;
  }

  bool is_full() const noexcept { return used_ == kMost; }

 private:
  static constexpr int kPlaceBits = 14;
  static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
  static constexpr std::size_t kMost = kPlaces / 2;

  static std::size_t place(const void* address) noexcept {
    return golden_hash(reinterpret_cast<std::uintptr_t>(address)) >> (64 - kPlaceBits);
  }

  struct Place {
    std::atomic<const void*> address;
    std::uint32_t number;
  };
  Place places_[kPlaces];
  std::atomic<std::size_t> used_ = 0;
};

HookedFunctions hooked;
std::mutex mutex;
std::atomic<bool> takes_all = false;

/// Waits a while only: this thread may hold what the holder wants, such as the dynamic linker's
/// lock.
std::unique_lock<std::mutex> locked_soon(std::mutex& wanted) {
  constexpr int kTries = 2000;
  constexpr std::chrono::microseconds kPause{50};
  std::unique_lock lock(wanted, std::try_to_lock);
  for (int i = 0; i < kTries && !lock; ++i) {
    std::this_thread::sleep_for(kPause);
    lock.try_lock();
  }
  return lock;
}

std::uint32_t add_unknown(const void* address, const std::uintptr_t* slot) noexcept {
  if (hooked.is_full() || may_be_in_handler(slot)) return kNoFunction;
  const std::unique_lock lock = locked_soon(mutex);
  std::uint32_t number = kNoFunction;
  if (!lock || hooked.find(address, number) || hooked.is_full()) return number;
  try {
    // One that is left out is known from now on, too: its further calls cost nothing.
    const auto added = try_to_add_function({{}, {}, Way::hooks}, address);
    if (added) hooked.add(address, *added);
    return added.value_or(kNoFunction);
  } catch (const std::bad_alloc&) {
    return kNoFunction;
  }
}

std::uint32_t number_of(const void* address, const std::uintptr_t* slot) noexcept {
  std::uint32_t number = kNoFunction;
  if (hooked.find(address, number) || !takes_all.load(std::memory_order_relaxed)) return number;
  return add_unknown(address, slot);
}

bool is_wanted() noexcept {
  return is_tracing() && !record::is_switched_off.load(std::memory_order_relaxed);
}

const std::uintptr_t* return_slot_of(const void* frame) noexcept {
  return static_cast<const std::uintptr_t*>(frame) + 1;
}

}  // namespace

void enter_hook(void* function, void* /*site*/) noexcept {
  if (!is_wanted()) return;
  const KeptErrno kept;
  const std::uintptr_t* const slot = return_slot_of(__builtin_frame_address(0));
  const std::uint32_t number = number_of(function, slot);
  if (number == kNoFunction) return;
  ThreadTrace* const own = own_trace != nullptr ? own_trace : make_own_trace(slot);
  if (own != nullptr) own->begin_hooked(number, slot);
}

void exit_hook(void* function, void* /*site*/) noexcept {
  const std::int64_t now = ticks_after_all();
  ThreadTrace* const own = own_trace;
  if (own == nullptr || !is_tracing()) return;
  std::uint32_t number = kNoFunction;
  if (!hooked.find(function, number) || number == kNoFunction) return;
  own->end_hooked(number, return_slot_of(__builtin_frame_address(0)), now);
}

void add_hooked(const void* address, std::uint32_t number) {
  const std::lock_guard lock(mutex);
  hooked.add(address, number);
}

void add_all_hooked() noexcept {
  takes_all = true;
}

}  // namespace headrace::trace
