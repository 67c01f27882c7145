#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace headrace {

/// Leaves numbers that are made without a value as the memory is.
template <class T>
struct UnclearedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UnclearedAllocator<U>;
  };

  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

/// A vector that does not clear what is written next: with many numbers that costs as much as to
/// write them.
template <class T>
using UnclearedVector = std::vector<T, UnclearedAllocator<T>>;

}  // namespace headrace
