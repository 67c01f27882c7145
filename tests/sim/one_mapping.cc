// The ranks of the simulation are threads that each map the node's memory. Here every mapping of
// one object in this process gets the same address, so that the thread sanitizer sees that two
// ranks touch the same memory. Linked in by --wrap.

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace {

struct Mapping {
  void* address;
  int users;
};

std::mutex mutex;
using Object = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

std::map<Object, Mapping>& mappings() {
  static auto* const all = new std::map<Object, Mapping>;
  return *all;
}

template <class Map>
void* map_once(Map map_anew, int flags, int descriptor) {
  struct stat status{};
  if (descriptor < 0 || (flags & MAP_SHARED) == 0 || fstat(descriptor, &status) != 0) {
    return map_anew();
  }
  const std::lock_guard lock(mutex);
  const Object object{status.st_dev, status.st_ino};
  const auto found = mappings().find(object);
  if (found != mappings().end()) {
    found->second.users += 1;
    return found->second.address;
  }
  void* const address = map_anew();
  if (address != MAP_FAILED) mappings()[object] = {address, 1};
  return address;
}

}  // namespace

extern "C" {

void* __real_mmap(void*, std::size_t, int, int, int, off_t);
void* __real_mmap64(void*, std::size_t, int, int, int, off64_t);
int __real_munmap(void*, std::size_t);

void* __wrap_mmap(void* at, std::size_t len, int access, int flags, int descriptor, off_t from) {
  return map_once([&] { return __real_mmap(at, len, access, flags, descriptor, from); }, flags,
                  descriptor);
}

void* __wrap_mmap64(void* at, std::size_t len, int access, int flags, int descriptor,
                    off64_t from) {
  return map_once([&] { return __real_mmap64(at, len, access, flags, descriptor, from); }, flags,
                  descriptor);
}

int __wrap_munmap(void* address, std::size_t len) {
  {
    const std::lock_guard lock(mutex);
    for (auto mapping = mappings().begin(); mapping != mappings().end(); ++mapping) {
      if (mapping->second.address != address) continue;
      if (--mapping->second.users > 0) return 0;
      mappings().erase(mapping);
      break;
    }
  }
  return __real_munmap(address, len);
}

}  // extern "C"
