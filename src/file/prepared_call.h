#pragma once

#include <cstdint>
#include <memory>

#include "device/staging.h"
#include "file/direct_transfer.h"
#include "file/file.h"
#include "file/file_pointer.h"

namespace headrace::file {

/// Whether a call needs a lock (atomic mode), and whether its caller holds it already.
enum class Locking : std::uint8_t { none, to_take, held };

/// A call that was checked and has its place in the file. Executing it depends on nothing that
/// other calls change.
struct PreparedCall {
  TransferCall call;  ///< moves nothing if it failed
  std::shared_ptr<const View> view;
  std::int64_t position = 0;  ///< in etypes
  Access access;
  ByteCount sieve_size = 0;
  bool meets = false;  ///< the ranks of the node meet
  Locking locking = Locking::none;
  bool verifies =
      false;  ///< the data is read back, by the ranks of the file or under the call's lock
  bool joins_check = false;  ///< the ranks of the file check it together, or would if it wrote
  /// A copy of `access` for reading back, since the transfer moves the cursors of `access`. Null if
  /// there is no data.
  std::unique_ptr<Access> written;
  std::unique_ptr<device::Staging> staging;  ///< if the data lies in a device's memory
  bool in_background = false;
  PointerMove move;
  Error lost = {};  ///< what buffers had held back before, and could not write
  Error failed;

  /// Whether all ranks must execute the call in the order of their calls.
  bool keeps_order() const { return meets || joins_check; }
};

/// The data of a call at `position`, in etypes of `view`.
Access access_of(const TransferCall& call, const View& view, std::int64_t position);

}  // namespace headrace::file
