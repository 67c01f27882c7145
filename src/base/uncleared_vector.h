#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace headrace {

/// Memory of `size` bytes; give it back to `free_uncleared` with the same size. From 2 MiB on it
/// asks the kernel for huge pages (granted if `transparent_hugepage/enabled` is madvise or always),
/// which takes an eighth of the time. Throws std::bad_alloc.
void* allocate_uncleared(std::size_t size);
void free_uncleared(void* memory, std::size_t size) noexcept;

/// An allocator whose elements, if made without a value, are not initialized.
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

/// A vector whose resize() does not clear new elements: clearing many numbers takes as long as
/// writing them.
template <class T>
using UnclearedVector = std::vector<T, UnclearedAllocator<T>>;

}  // namespace headrace
