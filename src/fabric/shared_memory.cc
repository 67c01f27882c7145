#include "fabric/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/blocked_signals.h"
#include "base/file_size_guard.h"
#include "base/secret.h"

namespace headrace::fabric {

Error SharedMemory::map(std::size_t size) {
  void* base =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_.get(), 0);
  if (base == MAP_FAILED) return system_failure(errno, "cannot map shared memory");
  base_ = static_cast<std::byte*>(base);
  size_ = size;
  return {};
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::make(SharedMemoryKind kind, std::size_t size) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  SharedMemoryTicket& ticket = memory->ticket_;
  if (Error error = draw_random(std::as_writable_bytes(std::span(ticket.secret)))) return error;
  if (kind == SharedMemoryKind::memfd) {
    memory->descriptor_ = HeldDescriptor(memfd_create("headrace", MFD_CLOEXEC));
    // Other processes of this user open it through /proc. The kernel and the mode keep other users
    // out.
    if (memory->descriptor_) fchmod(memory->descriptor_.get(), 0600);
  } else {
    // Everybody can read the names in /dev/shm, so the name tells nothing about the secret.
    std::uint64_t random[2] = {0, 0};
    if (Error error = draw_random(std::as_writable_bytes(std::span(random)))) return error;
    std::snprintf(ticket.name, sizeof ticket.name, "/headrace-%016llx%016llx",
                  static_cast<unsigned long long>(random[0]),
                  static_cast<unsigned long long>(random[1]));
    const int descriptor = shm_open(ticket.name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (descriptor < 0) ticket.name[0] = '\0';
    memory->descriptor_ = HeldDescriptor(descriptor);
  }
  if (!memory->descriptor_) return system_failure(errno, "cannot make shared memory");
  ticket.size = size;
  ticket.process = getpid();
  ticket.descriptor = memory->descriptor_.get();
  const FileSizeGuard guard;
  if (ftruncate(memory->descriptor_.get(), static_cast<off_t>(size)) != 0) {
    return system_failure(errno, "cannot size shared memory");
  }
  if (Error error = memory->map(size)) return error;
  if (!memory->commit(0, kSecretBytes)) {
    return system_failure(ENOSPC, "cannot get shared memory");
  }
  std::memcpy(memory->base_, ticket.secret, sizeof ticket.secret);
  return memory;
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::open(const SharedMemoryTicket& ticket) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  if (ticket.name[0] != '\0') {
    memory->descriptor_ = HeldDescriptor(shm_open(ticket.name, O_RDWR, 0));
  } else {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(ticket.process),
                  static_cast<long long>(ticket.descriptor));
    memory->descriptor_ = HeldDescriptor(::open(path, O_RDWR | O_CLOEXEC));
  }
  if (!memory->descriptor_) return system_failure(errno, "cannot open another rank's memory");
  // Check the size first: a wrong object could be shorter, and touching the mapping would raise
  // SIGBUS. Our object belongs to this user alone.
  struct stat status{};
  if (fstat(memory->descriptor_.get(), &status) != 0 ||
      status.st_size != static_cast<off_t>(ticket.size) || status.st_uid != geteuid() ||
      (status.st_mode & 0077) != 0) {
    return system_failure(ESTALE, "cannot open another rank's memory");
  }
  if (Error error = memory->map(ticket.size)) return error;
  if (std::memcmp(memory->base_, ticket.secret, sizeof ticket.secret) != 0) {
    return system_failure(ESTALE, "cannot open another rank's memory");
  }
  return memory;
}

SharedMemory::~SharedMemory() {
  unlink();
  if (base_ != nullptr) munmap(base_, size_);
}

bool SharedMemory::commit(std::size_t offset, std::size_t len) {
  // If the program closed our descriptor, another file would grow here (and lose its content in
  // release()).
  if (!descriptor_.is_intact()) return false;
  const FileSizeGuard guard;
  // Some kernels start over at each signal: a timer of the program could keep the call from ending.
  const BlockedSignals blocked;
  int failed = 0;
  do {
    failed =
        posix_fallocate(descriptor_.get(), static_cast<off_t>(offset), static_cast<off_t>(len));
  } while (failed == EINTR);
  return failed == 0;
}

void SharedMemory::populate([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t len,
                            [[maybe_unused]] bool has_pages) {
#ifdef MADV_POPULATE_WRITE
  // A read maps shared pages writable, too, and also maps the filled pages around.
  madvise(begin, len, has_pages ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
#endif
}

void SharedMemory::release(std::size_t offset, std::size_t len) {
  if (!descriptor_.is_intact()) return;
  fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(offset), static_cast<off_t>(len));
}

bool SharedMemory::has_room(std::size_t offset, std::size_t len) {
  if (!commit(offset, len)) return false;
  release(offset, len);
  // To commit beyond the end has moved it. Others open memory of the size that the ticket tells.
  return offset + len <= size_ || ftruncate(descriptor_.get(), static_cast<off_t>(size_)) == 0;
}

void SharedMemory::unlink() {
  if (ticket_.name[0] == '\0') return;
  shm_unlink(ticket_.name);
  ticket_.name[0] = '\0';
}

}  // namespace headrace::fabric
