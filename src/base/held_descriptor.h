#pragma once

#include <cstdint>
#include <utility>

namespace headrace {

/// A descriptor that the layer keeps for long and closes at the end. Some programs close
/// descriptors that they did not open: by a loop over all numbers, or by closing one twice. The
/// number then soon belongs to a file of the program, and our data would go there. Three rules
/// prevent that: our descriptors get high numbers, which open() does not hand out; a number that
/// the program closed is never given to another of our objects; and all but the hot path of high
/// numbers call is_intact() first.
class HeldDescriptor {
 public:
  enum class Place { apart, as_it_is };

  HeldDescriptor() = default;
  /// Takes a descriptor; a negative one makes an empty object. `apart` moves it to a high number if
  /// one is free. Keeps errno, unless no usable number is free: then the object is empty and errno
  /// is EMFILE. Takes no memory.
  explicit HeldDescriptor(int descriptor, Place place = Place::apart);
  HeldDescriptor(HeldDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)),
        is_marked_(other.is_marked_),
        is_high_(other.is_high_),
        device_(other.device_),
        file_(other.file_) {}
  HeldDescriptor& operator=(HeldDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(is_marked_, other.is_marked_);
    std::swap(is_high_, other.is_high_);
    std::swap(device_, other.device_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~HeldDescriptor() { close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Whether open() hands out such numbers to programs with very many files only.
  bool has_high_number() const { return is_high_; }

  /// Whether the number still leads to the file that was taken; if not, sets errno to EBADF. True
  /// for an empty object.
  bool is_intact() const;

  /// Returns 0 or an errno. If the descriptor is not intact, leaves the number to the program and
  /// returns EBADF. Keeps errno.
  int close();

 private:
  void mark();
  bool is_its_place() const;

  int number_ = -1;
  bool is_marked_ = false;
  bool is_high_ = false;
  // The target of a descriptor that cannot be marked (O_PATH); 0 if unknown.
  std::uint64_t device_ = 0;
  std::uint64_t file_ = 0;
};

/// Grows the kernel's table of descriptors. That takes microseconds while the process has one
/// thread, and milliseconds later: call before threads are made.
void make_room_for_held_descriptors();

}  // namespace headrace
