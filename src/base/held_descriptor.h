#pragma once

#include <cstdint>
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
  /// no number is free there. Keeps errno; has none afterwards, and errno EMFILE, where no number
  /// is free that none of ours lost. Takes no memory.
  explicit HeldDescriptor(int descriptor, Place place = Place::apart);
  HeldDescriptor(HeldDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)),
        is_marked_(other.is_marked_),
        device_(other.device_),
        file_(other.file_) {}
  HeldDescriptor& operator=(HeldDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(is_marked_, other.is_marked_);
    std::swap(device_, other.device_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~HeldDescriptor() { close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

  /// Whether the number still stands for what was taken; else errno is EBADF. True where there is
  /// none.
  bool is_intact() const;

  /// Returns 0 or the errno: EBADF where it is not intact, and the number is left to the program.
  /// Keeps errno.
  int close();

 private:
  void mark();

  int number_ = -1;
  bool is_marked_ = false;
  // Of one that cannot be marked (O_PATH): what it leads to; 0 where that is not known.
  std::uint64_t device_ = 0;
  std::uint64_t file_ = 0;
};

/// The kernel makes room for high numbers in some microseconds while a process has one thread,
/// later in some milliseconds. Call before threads are made.
void make_room_for_held_descriptors();

}  // namespace headrace
