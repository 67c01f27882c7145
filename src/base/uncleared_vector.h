#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace headrace {

/// Memory for `size` bytes, given back by `free_uncleared` with the same size. From 2 MiB on the
/// kernel is asked for huge pages, where it gives them to who asks (`transparent_hugepage/enabled`
/// is madvise or always): an eighth of the time to get them. Throws std::bad_alloc.
void* allocate_uncleared(std::size_t size);
void free_uncleared(void* memory, std::size_t size) noexcept;

/// Leaves numbers that are made without a value as the memory is.
template <class T>
struct UnclearedAllocator {
  using value_type = T;

  UnclearedAllocator() = default;
  template <class U>
  UnclearedAllocator(const UnclearedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_uncleared(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    free_uncleared(memory, count * sizeof(T));
  }

  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(const UnclearedAllocator&, const UnclearedAllocator&) { return true; }
};

/// A vector that does not clear what is written next: with many numbers that costs as much as to
/// write them.
template <class T>
using UnclearedVector = std::vector<T, UnclearedAllocator<T>>;

}  // namespace headrace
