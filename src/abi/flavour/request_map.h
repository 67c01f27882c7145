#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

/// A table from handles to values that several threads use at once, each for some nanoseconds.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// Open-addressed; what is removed is filled from behind (Knuth, The Art of Computer Programming 3,
/// 6.4, algorithm R). Value must be trivial.
template <class Value>
class RequestMap {
 public:
  /// Adds or replaces. False where there is no memory. Returns by `is_new` whether it was added.
  bool put(std::uintptr_t key, const Value& value, bool& is_new) noexcept {
    const Lock lock(flag_);
    if (2 * (count_ + 1) > capacity_ && !grow()) return false;
    Place& place = places_[find(key)];
    is_new = !place.is_used;
    count_ += is_new ? 1 : 0;
    place = {key, true, value};
    return true;
  }

  /// Calls `change` with the value, if there is one; it is removed if that returns false.
  template <class Change>
  void visit(std::uintptr_t key, Change change) noexcept {
    const Lock lock(flag_);
    if (count_ == 0) return;
    const std::size_t at = find(key);
    if (places_[at].is_used && !change(places_[at].value)) remove(at);
  }

 private:
  struct Place {
    std::uintptr_t key = 0;
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
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> 20) & (capacity_ - 1);
  }

  std::size_t find(std::uintptr_t key) const {
    std::size_t at = home(key);
    while (places_[at].is_used && places_[at].key != key) at = (at + 1) & (capacity_ - 1);
    return at;
  }

  bool grow() noexcept {
    const std::size_t capacity = capacity_ == 0 ? 64 : 2 * capacity_;
    std::unique_ptr<Place[]> old(new (std::nothrow) Place[capacity]);
    if (old == nullptr) return false;
    old.swap(places_);
    const std::size_t old_capacity = capacity_;
    capacity_ = capacity;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].is_used) places_[find(old[i].key)] = old[i];
    }
    return true;
  }

  void remove(std::size_t at) {
    --count_;
    for (std::size_t next = at;;) {
      next = (next + 1) & (capacity_ - 1);
      if (!places_[next].is_used) break;
      const std::size_t distance = (next - home(places_[next].key)) & (capacity_ - 1);
      if (distance < ((next - at) & (capacity_ - 1))) continue;
      places_[at] = places_[next];
      at = next;
    }
    places_[at].is_used = false;
  }

  std::atomic_flag flag_;
  std::size_t capacity_ = 0;  ///< a power of two
  std::size_t count_ = 0;
  std::unique_ptr<Place[]> places_;
};

}  // namespace headrace::HEADRACE_FLAVOUR::recording
