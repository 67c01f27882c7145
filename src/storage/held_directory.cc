#include "storage/held_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/uninterrupted.h"

namespace headrace::storage {
namespace {

/// The held directories, by device and inode number. Never destroyed: files are closed during exit,
/// too.
struct Directories {
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const HeldDescriptor>> held;
};

Directories& directories() {
  static auto& only = *new Directories;
  return only;
}

}  // namespace

std::shared_ptr<const HeldDescriptor> hold_directory(const std::string& path) {
  auto opened =
      std::make_shared<HeldDescriptor>();  // first, so that nothing is open if memory lacks
  // O_PATH needs no permission to read, and asks no server.
  *opened = HeldDescriptor(
      uninterrupted([&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  struct stat status{};
  if (!*opened || fstatat(opened->get(), "", &status, AT_EMPTY_PATH) != 0) return nullptr;
  Directories& own = directories();
  const std::lock_guard lock(own.mutex);
  std::erase_if(own.held, [](const auto& entry) { return entry.second.expired(); });
  auto& known = own.held[{status.st_dev, status.st_ino}];
  auto held = known.lock();
  if (held == nullptr || !held->is_intact()) known = held = std::move(opened);
  return held;
}

}  // namespace headrace::storage
