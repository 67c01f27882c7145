#include "storage/mapped_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/kept_errno.h"
#include "base/small_file.h"
#include "base/uninterrupted.h"

namespace headrace::storage {
namespace {

constexpr std::size_t kFirstRoom = std::size_t{64} << 10;
constexpr std::size_t kMostRoom = std::size_t{64} << 20;

}  // namespace

MappedText::MappedText(const char* path) noexcept {
  const KeptErrno kept;
  const ScopedDescriptor file(uninterrupted([&] { return ::open(path, O_RDONLY | O_CLOEXEC); }));
  while (file.get() >= 0 && (size_ < room_ || grow())) {
    const ssize_t got =
        uninterrupted([&] { return ::read(file.get(), memory_ + size_, room_ - size_); });
    if (got <= 0) break;
    size_ += static_cast<std::size_t>(got);
  }
}

MappedText::~MappedText() {
  const KeptErrno kept;
  if (memory_ != nullptr) ::munmap(memory_, room_);
}

bool MappedText::grow() noexcept {
  const std::size_t more = room_ == 0 ? kFirstRoom : 2 * room_;
  if (more > kMostRoom) return false;
  void* const found = memory_ == nullptr ? ::mmap(nullptr, more, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                         : ::mremap(memory_, room_, more, MREMAP_MAYMOVE);
  if (found == MAP_FAILED) return false;
  memory_ = static_cast<char*>(found);
  room_ = more;
  return true;
}

}  // namespace headrace::storage
