#pragma once

#include <utility>

namespace headrace {

/// A descriptor that the layer keeps for long, closed at the end. Programs close descriptors that
/// they have not opened: by a loop over all, or one a second time. The number then soon stands for
/// a file of the program, into which data would go. So descriptors get high numbers, which no open
/// gives out; a number that one lost is not given to another one of ours; and what is not the hot
/// path looks first whether the number still stands for what was taken.
class HeldDescriptor {
 public:
  enum class Place { apart, as_it_is };

  HeldDescriptor() = default;
  /// Takes a descriptor, or none where it is negative. Moves it apart, or leaves it where it is if
  /// no number is free there. Keeps errno; has none afterwards, and errno EMFILE, where no number is
  /// free that none of ours lost. Takes no memory.
  explicit HeldDescriptor(int descriptor, Place place = Place::apart);
  HeldDescriptor(HeldDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)), is_marked_(other.is_marked_) {}
  HeldDescriptor& operator=(HeldDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(is_marked_, other.is_marked_);
    return *this;
  }
  ~HeldDescriptor() { close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

  /// Whether the number still stands for what was taken; else errno is EBADF.
  bool is_intact() const;

  /// Returns 0 or the errno: EBADF where it is not intact, and the number is left to the program.
  /// Keeps errno.
  int close();

 private:
  int number_ = -1;
  bool is_marked_ = false;
};

/// The kernel makes room for high numbers in some microseconds while a process has one thread, later
/// in some milliseconds. Call before threads are made.
void make_room_for_held_descriptors();

}  // namespace headrace
