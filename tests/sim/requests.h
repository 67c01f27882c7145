#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "file/file.h"
#include "sim/disk.h"
#include "sim/random.h"
#include "sim/views.h"

namespace headrace::sim {

/// One rank's read or write call, and after prediction what must come of it.
struct Request {
  std::optional<std::int64_t> offset;  ///< in etypes; absent: the individual pointer
  std::int64_t count = 0;
  Pair memory;
  bool is_absolute = false;  ///< by a type of absolute addresses and a null buffer
  Bytes buffer;              ///< what surrounds and holds the data before the call
  std::int64_t origin = 0;   ///< place in `buffer` of memory offset 0
  ByteCount position = 0;    ///< data position of the first byte in the view

  // What must come of it.
  Bytes after;  ///< the buffer
  ByteCount bytes = 0;
  ErrorClass error = ErrorClass::success;
  std::int64_t pointer = 0;  ///< in etypes

  ByteCount wanted() const { return count > 0 ? count * std::ssize(memory.model.offsets) : 0; }
  /// Places in `buffer` of the first `number` bytes of data.
  std::vector<std::int64_t> places(ByteCount number) const;
};

/// Bytes at which no random request goes on.
inline constexpr FileOffset kEndOfRequests = 1'500'000;

/// A random valid request of at most about `most_bytes` bytes. `pointer` is where the individual
/// pointer stands, in etypes.
Request make_request(Random& random, Direction direction, const ViewModel& view,
                     std::int64_t pointer, ByteCount most_bytes);

/// Makes the request move nothing.
void empty(Request& request);

/// The call that moves the request's data to or from `buffer`.
file::TransferCall call_of(Direction direction, bool collective, const Request& request,
                           std::uint8_t* buffer);
/// Makes it.
file::Outcome carry_out(file::File& file, Direction direction, bool collective,
                        const Request& request, Bytes& buffer);
/// Makes it with a buffer in a device's memory.
file::Outcome carry_out_on_device(file::File& file, Direction direction, bool collective,
                                  const Request& request, Bytes& buffer);

}  // namespace headrace::sim
