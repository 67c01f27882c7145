#include "file/client_lock.h"

#include <cerrno>

#include "base/types.h"

namespace headrace::file {
namespace {

/// Behind what atomic mode probes. No file is that long.
constexpr FileOffset kShared = (FileOffset{1} << 61) + 16;
/// From here on each rank has a byte, in so many stretches: the program may open a file as often by
/// ranks of the same number.
constexpr FileOffset kOwn = kShared + 16;
constexpr FileOffset kMostRanks = FileOffset{1} << 32;
constexpr int kStretches = 64;

}  // namespace

Error hold_client_lock(storage::Store& store, bool can_read, int rank) {
  if (can_read) {
    const Result<bool> locked = store.try_lock(kShared, kShared + 1, storage::LockMode::shared);
    if (!locked) return locked.error();
    return locked.value() ? Error{} : Error{ErrorClass::io, EAGAIN, "the file is locked"};
  }
  // Who cannot read must lock for writing, which others cannot at the same byte.
  for (int i = 0; i < kStretches; ++i) {
    const FileOffset byte = kOwn + i * kMostRanks + rank;
    const Result<bool> locked = store.try_lock(byte, byte + 1, storage::LockMode::exclusive);
    if (!locked) return locked.error();
    if (locked.value()) return {};
  }
  return {ErrorClass::io, EAGAIN, "the file is locked"};
}

}  // namespace headrace::file
