#include "record/own_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include "base/kept_errno.h"

namespace headrace::record {

bool read_own_memory(const void* from, void* to, std::size_t size) noexcept {
  const KeptErrno kept;
  const iovec here{to, size};
  const iovec there{const_cast<void*>(from), size};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

}  // namespace headrace::record
