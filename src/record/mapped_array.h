#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace headrace::record {

/// An array of zeros whose pages are taken when they are touched. Made of mapped memory, not by
/// malloc: it may grow while a signal handler runs. `T` is made of zeros and needs no destructor.
template <class T>
class MappedArray {
 public:
  explicit MappedArray(std::size_t most) noexcept {
    void* const memory = ::mmap(nullptr, most * sizeof(T), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    items_ = static_cast<T*>(memory);
    most_ = most;
  }
  ~MappedArray() {
    if (items_ != nullptr) ::munmap(static_cast<void*>(items_), most_ * sizeof(T));
  }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;

  T& operator[](std::size_t i) noexcept { return items_[i]; }
  const T& operator[](std::size_t i) const noexcept { return items_[i]; }

  /// How many can be had: none where memory was lacking.
  std::size_t most() const noexcept { return most_; }
  std::size_t taken() const noexcept { return taken_; }
  bool has_room(std::size_t count) const noexcept { return count <= most_ - taken_; }

  /// The index of the first of `count` items; there must be room.
  std::size_t take(std::size_t count) noexcept {
    const std::size_t first = taken_;
    taken_ += count;
    return first;
  }

 private:
  T* items_ = nullptr;
  std::size_t most_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace headrace::record
