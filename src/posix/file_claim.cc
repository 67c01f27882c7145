#include "posix/file_claim.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/kept_errno.h"

namespace headrace::posix {
namespace {

/// More are not looked at: opening a file would take too long.
constexpr int kMostDescriptors = 1024;

/// As the kernel lists it.
struct Entry {
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];
};

bool may_write(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY;
}

/// Whether `other` is a further way to the file.
bool conflicts(int other, const FileIdentity& file, bool writes) {
  FileIdentity found;
  if (find_identity(other, found) != 0 || found != file) return false;
  const int flags = ::fcntl(other, F_GETFL);
  return flags >= 0 && (flags & O_PATH) == 0 && (writes || may_write(flags));
}

/// A name in the kernel's own space, which ends with the socket.
socklen_t set_name(const FileIdentity& file, sockaddr_un& address) {
  constexpr std::string_view kBegin = "headrace-iobuf-";
  address.sun_family = AF_UNIX;
  char* at = address.sun_path + 1;
  at = std::ranges::copy(kBegin, at).out;
  char* const end = address.sun_path + sizeof address.sun_path;
  at = std::to_chars(at, end, file.device, 16).ptr;
  *at++ = '-';
  at = std::to_chars(at, end, file.inode, 16).ptr;
  return static_cast<socklen_t>(at - reinterpret_cast<char*>(&address));
}

}  // namespace

Sharing find_in_process(int descriptor, const FileIdentity& file, bool writes) noexcept {
  const KeptErrno kept;
  const int list = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (list < 0) return Sharing::unknown;
  Sharing found = Sharing::none;
  alignas(std::uint64_t) std::array<char, 2048> room{};
  int seen = 0;
  long bytes = 0;
  while (found == Sharing::none &&
         (bytes = ::syscall(SYS_getdents64, list, room.data(), room.size())) > 0) {
    for (long at = 0; at < bytes && found == Sharing::none;) {
      const auto* const entry = reinterpret_cast<const Entry*>(room.data() + at);
      at += entry->size;
      int other = -1;
      const char* const name = entry->name;
      if (std::from_chars(name, name + std::strlen(name), other).ec != std::errc()) continue;
      if (++seen > kMostDescriptors) found = Sharing::unknown;
      if (other != descriptor && other != list && conflicts(other, file, writes)) {
        found = Sharing::in_process;
      }
    }
  }
  ::close(list);
  return found;
}

Sharing find_in_node(const FileIdentity& file, HeldDescriptor* claim) noexcept {
  const KeptErrno kept;
  const int made = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return Sharing::none;
  sockaddr_un address{};
  const socklen_t size = set_name(file, address);
  const bool is_free = ::bind(made, reinterpret_cast<sockaddr*>(&address), size) == 0;
  const Sharing found = !is_free && errno == EADDRINUSE ? Sharing::in_node : Sharing::none;
  if (is_free && claim != nullptr) {
    *claim = HeldDescriptor(made);
  } else {
    ::close(made);
  }
  return found;
}

}  // namespace headrace::posix
