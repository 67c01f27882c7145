#include "base/held_descriptor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/kept_errno.h"

namespace headrace {
namespace {

/// Our descriptors' numbers begin here: programs rarely have so many files open. Higher numbers
/// would make fork copy a larger table.
constexpr int kFirstApart = 512;

/// Each of our open files is marked by this signal (F_SETSIG). It is never sent, since nobody asks
/// for signals of the file, and would be ignored. Unlike an inode number, reading the mark asks no
/// file system, and it tells our open file from another open of the same file.
constexpr int kMark = SIGURG;

/// The descriptor numbers that we hold, a bit each. Higher numbers are not tracked.
constexpr int kMaxNumbers = 1 << 16;
std::array<std::atomic<std::uint64_t>, kMaxNumbers / 64> taken_numbers{};

std::uint64_t bit_of(int number) {
  return std::uint64_t{1} << (number % 64);
}

/// False if one of our objects still claims the number, though the program closed it.
bool take_number(int number) {
  if (number >= kMaxNumbers) return true;
  auto& word = taken_numbers[static_cast<std::size_t>(number / 64)];
  return (word.fetch_or(bit_of(number)) & bit_of(number)) == 0;
}

void give_number_back(int number) {
  if (number >= kMaxNumbers) return;
  taken_numbers[static_cast<std::size_t>(number / 64)].fetch_and(~bit_of(number));
}

int first_apart() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFirstApart;
  return static_cast<int>(std::min<rlim_t>(kFirstApart, limit.rlim_cur / 2));
}

/// A duplicate whose number is at least `first` and which no other object of ours claims; -1 if
/// there is none.
int duplicate(int descriptor, int first) {
  while (true) {
    const int number = fcntl(descriptor, F_DUPFD_CLOEXEC, first);
    if (number < 0 || take_number(number)) return number;
    ::close(number);
    first = number + 1;
  }
}

/// Moves a descriptor to the number under which it is held from now on; -1 if there is none.
int placed(int descriptor, HeldDescriptor::Place place) {
  const bool stays = place == HeldDescriptor::Place::as_it_is;
  int number = stays ? -1 : duplicate(descriptor, first_apart());
  if (number < 0 && take_number(descriptor)) return descriptor;
  if (number < 0) number = duplicate(descriptor, descriptor + 1);
  ::close(descriptor);
  return number;
}

/// Whether a descriptor was opened by O_PATH.
bool leads_to_a_place(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_PATH) != 0;
}

/// False where the C library does not tell: glibc does since 2.32.
bool is_single_threaded() {
  const void* const told = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
  return told != nullptr && *static_cast<const char*>(told) != 0;
}

}  // namespace

HeldDescriptor::HeldDescriptor(int descriptor, Place place) {
  if (descriptor < 0) return;
  const int before = errno;
  number_ = placed(descriptor, place);
  is_high_ = number_ >= first_apart();
  if (number_ >= 0) mark();
  errno = number_ < 0 ? EMFILE : before;
}

void HeldDescriptor::mark() {
  is_marked_ = fcntl(number_, F_SETSIG, kMark) == 0;
  struct stat status{};
  if (is_marked_ || !leads_to_a_place(number_) || fstat(number_, &status) != 0) return;
  device_ = status.st_dev;
  file_ = status.st_ino;
}

bool HeldDescriptor::is_intact() const {
  if (number_ < 0) return true;
  if (is_marked_ ? fcntl(number_, F_GETSIG) == kMark : file_ == 0 || is_its_place()) return true;
  errno = EBADF;
  return false;
}

bool HeldDescriptor::is_its_place() const {
  if (!leads_to_a_place(number_)) return false;
  struct stat status{};
  // A server that answers otherwise (ESTALE) says nothing of the descriptor.
  if (fstat(number_, &status) != 0) return errno != EBADF;
  return status.st_dev == device_ && status.st_ino == file_;
}

int HeldDescriptor::close() {
  if (number_ < 0) return 0;
  const KeptErrno kept;
  const bool was_intact = is_intact();
  const int number = std::exchange(number_, -1);
  give_number_back(number);
  if (!was_intact) return EBADF;
  return ::close(number) == 0 ? 0 : errno;
}

void make_room_for_held_descriptors() {
  if (!is_single_threaded()) return;
  const KeptErrno kept;
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int number = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, first_apart());
  if (number >= 0) ::close(number);
  if (file >= 0) ::close(file);
}

}  // namespace headrace
