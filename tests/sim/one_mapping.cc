// The ranks of the simulation are threads that each map the node's memory. Here every mapping of
// one object in this process gets the same address, so that the thread sanitizer sees that two
// ranks touch the same memory. Linked in by --wrap.

#include "sim/one_mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>

namespace {

/// Takes no memory of the program's: allocations of the engine are counted and made to fail.
struct Mapping {
  std::uint64_t device;
  std::uint64_t inode;
  void* address;
  int users;  ///< 0: free
};

bool (*fails)() = nullptr;
std::mutex mutex;
std::array<Mapping, 1024> mappings;

template <class Matches>
Mapping* find(Matches matches) {
  for (Mapping& mapping : mappings) {
    if (matches(mapping)) return &mapping;
  }
  return nullptr;
}

template <class Map>
void* map_once(Map map_anew, int flags, int descriptor) {
  struct stat status{};
  if (descriptor < 0 || (flags & MAP_SHARED) == 0 || fstat(descriptor, &status) != 0) {
    return map_anew();
  }
  if (fails != nullptr && fails()) return MAP_FAILED;
  const std::lock_guard lock(mutex);
  Mapping* const found = find([&](const Mapping& mapping) {
    return mapping.users > 0 && mapping.device == status.st_dev && mapping.inode == status.st_ino;
  });
  if (found != nullptr) {
    found->users += 1;
    return found->address;
  }
  void* const address = map_anew();
  if (address == MAP_FAILED) return address;
  Mapping* const free = find([](const Mapping& mapping) { return mapping.users == 0; });
  if (free == nullptr) std::abort();
  *free = {status.st_dev, status.st_ino, address, 1};
  return address;
}

}  // namespace

void headrace::sim::let_mappings_fail(bool (*whether)()) {
  fails = whether;
}

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
    Mapping* const found = find(
        [&](const Mapping& mapping) { return mapping.users > 0 && mapping.address == address; });
    if (found != nullptr && --found->users > 0) return 0;
  }
  return __real_munmap(address, len);
}

}  // extern "C"
