#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

// The C++ library's operators, for one source of a program. All of them: a sanitizer keeps its own
// in place of those that are missing, and then finds memory given back to another than it came
// from.

namespace headrace::allocation {

// Defined by the source.
bool is_refused() noexcept;
void note_taken(void* place) noexcept;
void note_given_back(void* place) noexcept;

inline void* take(std::size_t size, std::size_t alignment = 0) noexcept {
  if (is_refused()) return nullptr;
  if (size == 0) size = 1;
  void* place = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    place = std::malloc(size);
  } else if (posix_memalign(&place, alignment, size) != 0) {
    place = nullptr;
  }
  if (place != nullptr) note_taken(place);
  return place;
}

inline void* take_or_throw(std::size_t size, std::size_t alignment = 0) {
  void* const place = take(size, alignment);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

inline void give_back(void* place) noexcept {
  if (place != nullptr) note_given_back(place);
  std::free(place);
}

}  // namespace headrace::allocation

using headrace::allocation::give_back;
using headrace::allocation::take;
using headrace::allocation::take_or_throw;

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  return take_or_throw(size);
}
void* operator new[](std::size_t size) {
  return take_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* place) noexcept {
  give_back(place);
}
void operator delete[](void* place) noexcept {
  give_back(place);
}
void operator delete(void* place, std::size_t) noexcept {
  give_back(place);
}
void operator delete[](void* place, std::size_t) noexcept {
  give_back(place);
}
void operator delete(void* place, std::align_val_t) noexcept {
  give_back(place);
}
void operator delete[](void* place, std::align_val_t) noexcept {
  give_back(place);
}
void operator delete(void* place, std::size_t, std::align_val_t) noexcept {
  give_back(place);
}
void operator delete[](void* place, std::size_t, std::align_val_t) noexcept {
  give_back(place);
}
