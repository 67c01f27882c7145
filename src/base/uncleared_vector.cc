#include "base/uncleared_vector.h"

#include <sys/mman.h>

#include "base/kept_errno.h"

namespace headrace {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;

}  // namespace

void* allocate_uncleared(std::size_t size) {
  if (size < kHugePage) return ::operator new(size);
  void* const memory = ::operator new(size, std::align_val_t{kHugePage});
#ifdef MADV_HUGEPAGE
  const KeptErrno kept;
  madvise(memory, size / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_uncleared(void* memory, std::size_t size) noexcept {
  if (size < kHugePage) {
    ::operator delete(memory);
  } else {
    ::operator delete(memory, std::align_val_t{kHugePage});
  }
}

}  // namespace headrace
