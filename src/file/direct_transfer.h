#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "device/staging.h"
#include "storage/store.h"
#include "view/cursor.h"

namespace headrace::file {

/// One rank's data of one call. The cursors stand at its first byte.
struct Access {
  Direction direction = Direction::write;
  view::Cursor file;
  view::Cursor memory;
  std::byte* buffer =
      nullptr;  ///< the address of offset 0 of `memory`; null for absolute addresses
  ByteCount bytes = 0;
  /// Set if the data lies in a device's memory; `memory` is then one stretch of as many bytes.
  device::Staging* staging = nullptr;
};

/// Bytes moved from the start of the data, and the errno that stopped it. Fewer bytes without an
/// error: a read met the end of the file.
using storage::Transferred;

/// Moves one stretch of memory from or to one stretch of the file.
inline Transferred move_stretch(storage::Store& store, Direction direction, FileOffset begin,
                                std::byte* memory, ByteCount bytes) {
  if (bytes == 0) return {};
  const iovec segment{memory, static_cast<std::size_t>(bytes)};
  return direction == Direction::write ? store.write(begin, {&segment, 1})
                                       : store.read(begin, {&segment, 1});
}

/// Moves one rank's pieces by its own system calls, without any other rank. Writes touch exactly
/// the requested bytes. Reads of small pieces that lie close together also read the gaps ("data
/// sieving", Thakur et al., Frontiers 1999), at most `sieve_size` bytes a call. Larger pieces are
/// read together if the gaps between them are at most policy::kJoinedGap bytes. If `sieve_size` is
/// 0, each piece is read by a call of its own.
Transferred direct_transfer(storage::Store& store, Access access, ByteCount sieve_size);

}  // namespace headrace::file
