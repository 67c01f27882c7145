#include "record/node_images.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_cancellation.h"

namespace headrace::record {

NodeImages::NodeImages(const ImageFile& own)
    : directory_(own.path().substr(0, own.path().rfind('/'))) {}

NodeImages::~NodeImages() {
  for (const auto& [rank, part] : parts_) {
    munmap(part.memory, part.size);
  }
}

const EntryLogs* NodeImages::logs_of(std::int32_t rank) {
  const auto found = parts_.find(rank);
  if (found != parts_.end()) return found->second.logs;
  const Part part = map(rank);
  if (part.logs != nullptr) parts_.emplace(rank, part);
  return part.logs;
}

/// The directory is this user's and its job's alone. Nobody shortens an image (image_file.h).
NodeImages::Part NodeImages::map(std::int32_t rank) const {
  const NoCancellation uncancelled;
  const std::string path = directory_ + "/rank-" + std::to_string(rank);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return {};
  struct stat status{};
  ImageHeader header{};
  Part part;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      pread(descriptor, &header, sizeof header, 0) == sizeof header &&
      header.magic == kImageMagic && header.header_size >= sizeof header && header.rank == rank &&
      header.entry_logs != 0 && header.entry_logs % alignof(EntryLogs) == 0 &&
      header.entry_logs + sizeof(EntryLogs) <= static_cast<std::uint64_t>(status.st_size)) {
    part.size = header.entry_logs + sizeof(EntryLogs);
    void* const memory = mmap(nullptr, part.size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory != MAP_FAILED) {
      part.memory = memory;
      part.logs = reinterpret_cast<const EntryLogs*>(static_cast<const std::byte*>(memory) +
                                                     header.entry_logs);
    }
  }
  close(descriptor);
  return part;
}

}  // namespace headrace::record
