#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

#include "base/mixed_hash.h"

/// A table from the handles of requests to values, that several threads use at once, each for some
/// nanoseconds.
namespace headrace::record {

/// An MPI library gives a handle again as soon as its request is complete, while another thread may
/// still be about to ask for the value of the one before. So a handle may have several values, and
/// each has a serial number: who notes the last number before it calls the library finds its own
/// again, for that is the latest one up to there.
///
/// Open-addressed; what is removed is filled from behind (Knuth, The Art of Computer Programming 3,
/// 6.4, algorithm R). Value must be trivial.
template <class Value>
class RequestMap {
 public:
  static constexpr std::uint64_t kLatest = std::numeric_limits<std::uint64_t>::max();

  /// Adds a value, or replaces the earliest one of the handle if it has `most` already. False where
  /// there is no memory. Returns by `is_new` whether it was added.
  bool put(std::uintptr_t key, std::uint64_t serial, const Value& value, int most,
           bool& is_new) noexcept {
    const Lock lock(flag_);
    if (2 * (count_ + 1) > capacity_ && !grow()) return false;
    int found = 0;
    std::size_t at = home(key);
    std::size_t earliest = at;
    for (; places_[at].is_used; at = next(at)) {
      if (places_[at].key != key) continue;
      if (found++ == 0 || places_[at].serial < places_[earliest].serial) earliest = at;
    }
    is_new = found < most;
    count_ += is_new ? 1 : 0;
    places_[is_new ? at : earliest] = {key, serial, true, value};
    return true;
  }

  /// Calls `change` with the handle's latest value up to `serial`, if there is one; it is removed
  /// if that returns false.
  template <class Change>
  void visit(std::uintptr_t key, std::uint64_t serial, Change change) noexcept {
    const Lock lock(flag_);
    if (count_ == 0) return;
    Place* latest = nullptr;
    for (std::size_t at = home(key); places_[at].is_used; at = next(at)) {
      Place& place = places_[at];
      if (place.key != key || place.serial > serial) continue;
      if (latest == nullptr || place.serial > latest->serial) latest = &place;
    }
    if (latest != nullptr && !change(latest->value)) {
      remove(static_cast<std::size_t>(latest - places_.get()));
    }
  }

 private:
  struct Place {
    std::uintptr_t key = 0;
    std::uint64_t serial = 0;
    bool is_used = false;
    Value value{};
  };

  /// Held for some nanoseconds; who finds it held sleeps.
  class Lock {
   public:
    explicit Lock(std::atomic_flag& flag) : flag_(flag) {
      while (flag_.test_and_set(std::memory_order_acquire)) flag_.wait(true);
    }
    ~Lock() {
      flag_.clear(std::memory_order_release);
      flag_.notify_one();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::atomic_flag& flag_;
  };

  std::size_t home(std::uintptr_t key) const {
    return static_cast<std::size_t>(golden_hash(key) >> 20) & (capacity_ - 1);
  }

  std::size_t next(std::size_t at) const { return (at + 1) & (capacity_ - 1); }

  bool grow() noexcept {
    const std::size_t capacity = capacity_ == 0 ? 64 : 2 * capacity_;
    std::unique_ptr<Place[]> old(new (std::nothrow) Place[capacity]);
    if (old == nullptr) return false;
    old.swap(places_);
    const std::size_t old_capacity = capacity_;
    capacity_ = capacity;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (!old[i].is_used) continue;
      std::size_t at = home(old[i].key);
      while (places_[at].is_used) at = next(at);
      places_[at] = old[i];
    }
    return true;
  }

  void remove(std::size_t at) {
    --count_;
    for (std::size_t other = next(at); places_[other].is_used; other = next(other)) {
      const std::size_t distance = (other - home(places_[other].key)) & (capacity_ - 1);
      if (distance < ((other - at) & (capacity_ - 1))) continue;
      places_[at] = places_[other];
      at = other;
    }
    places_[at].is_used = false;
  }

  std::atomic_flag flag_;
  std::size_t capacity_ = 0;  ///< a power of two
  std::size_t count_ = 0;
  std::unique_ptr<Place[]> places_;
};

}  // namespace headrace::record
