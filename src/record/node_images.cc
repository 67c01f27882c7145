#include "record/node_images.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/no_cancellation.h"

namespace headrace::record {
namespace {

constexpr std::size_t kMostMapped = std::size_t{512} << 10;

/// What lies at `place` in an image; null if it is not in the part that is mapped.
template <class Logs>
const Logs* logs_at(const std::byte* memory, std::size_t size, std::uint64_t place) {
  const bool is_there = memory != nullptr && place != 0 && place % alignof(Logs) == 0 &&
                        sizeof(Logs) <= size && place <= size - sizeof(Logs);
  return is_there ? reinterpret_cast<const Logs*>(memory + place) : nullptr;
}

const ImageHeader* header_of(const std::byte* memory) {
  return reinterpret_cast<const ImageHeader*>(memory);
}

}  // namespace

NodeImages::NodeImages(const ImageFile& own)
    : directory_(own.path().substr(0, own.path().rfind('/'))) {}

NodeImages::~NodeImages() {
  for (const auto& [rank, part] : parts_) {
    if (part.memory != nullptr) munmap(const_cast<std::byte*>(part.memory), part.size);
  }
}

const NodeImages::Part& NodeImages::part_of(std::int32_t rank) {
  Part& part = parts_[rank];
  if (part.memory == nullptr) part = map(rank);
  return part;
}

const EntryLogs* NodeImages::entry_logs(std::int32_t rank) {
  const Part& part = part_of(rank);
  if (part.memory == nullptr) return nullptr;
  return logs_at<EntryLogs>(part.memory, part.size, header_of(part.memory)->entry_logs);
}

const MessageLogs* NodeImages::message_logs(std::int32_t rank) {
  const Part& part = part_of(rank);
  if (part.memory == nullptr) return nullptr;
  return logs_at<MessageLogs>(part.memory, part.size, header_of(part.memory)->message_logs);
}

/// The directory is this user's and its job's alone. Nobody shortens an image (image_file.h). What
/// ranks read lies at its front: it is taken first.
NodeImages::Part NodeImages::map(std::int32_t rank) const {
  const NoCancellation uncancelled;
  const int error_before = errno;
  const std::string path = directory_ + "/rank-" + std::to_string(rank);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    errno = error_before;
    return {};
  }
  struct stat status{};
  ImageHeader header{};
  Part part;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      pread(descriptor, &header, sizeof header, 0) == sizeof header &&
      header.magic == kImageMagic && header.header_size >= sizeof header && header.rank == rank &&
      header.row_size == sizeof(Row)) {
    const auto size = std::min<std::size_t>(static_cast<std::size_t>(status.st_size), kMostMapped);
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory != MAP_FAILED) part = {static_cast<const std::byte*>(memory), size};
  }
  close(descriptor);
  errno = error_before;
  return part;
}

}  // namespace headrace::record
