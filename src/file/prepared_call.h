#pragma once

#include <cstdint>
#include <memory>

#include "device/staging.h"
#include "file/direct_transfer.h"
#include "file/file.h"
#include "file/file_pointer.h"

namespace headrace::file {

/// Whether data goes as if alone, and whether what keeps the others away is taken already.
enum class Locking : std::uint8_t { none, to_take, held };

/// A call that was checked and has its place in the file: what is left to do depends on nothing
/// that other calls change.
struct PreparedCall {
  TransferCall call;  ///< moves nothing if it failed
  std::shared_ptr<const View> view;
  std::int64_t position = 0;  ///< in etypes
  Access access;
  ByteCount sieve_size = 0;
  bool meets = false;  ///< the ranks of the node meet
  Locking locking = Locking::none;
  bool verifies = false;     ///< it is read back: by the ranks of the file, or under its lock
  bool joins_check = false;  ///< the ranks of the file look at it, or would if it wrote
  /// What is read back: `access` once more, since the transfer moves that one's cursors. Null if
  /// there is no data.
  std::unique_ptr<Access> written;
  std::unique_ptr<device::Staging> staging;  ///< if the data lies in a device's memory
  bool in_background = false;
  PointerMove move;
  Error failed;

  /// All ranks carry such calls out in the order in which they were made.
  bool keeps_order() const { return meets || joins_check; }
};

/// The data of a call at `position`, in etypes of `view`.
Access access_of(const TransferCall& call, const View& view, std::int64_t position);

}  // namespace headrace::file
