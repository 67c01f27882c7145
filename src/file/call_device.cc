#include <algorithm>
#include <atomic>
#include <utility>

#include "file/call_executor.h"
#include "view/copy.h"

// Data in the memory of a device, which its driver copies through host memory.

namespace headrace::file {

/// Costs a process without a driver one comparison.
Error CallExecutor::stage_device_data(const TransferCall& call,
                                      std::unique_ptr<device::Staging>& staging) const {
  const ByteCount bytes = call.count * call.type->size();
  if (call.in_parts || bytes == 0) return {};
  return attempt([&]() -> Error {
    auto* const buffer = static_cast<std::byte*>(call.buffer);
    const std::optional<device::Place> place = device::find_data(buffer, call.type);
    if (!place) return {};
    const view::Cursor memory(call.type, 0, bytes);
    staging = device::Staging::make(call.direction, *place, buffer, memory, own_share_);
    return {};
  });
}

/// Called when the transfer is over. After a failure, `moved` counts only what the driver has
/// surely copied.
Error CallExecutor::end_staging(device::Staging* staging, Direction direction, Transferred& moved) {
  if (staging == nullptr) return {};
  staging->flush();
  const Error& failure = staging->failure();
  if (failure) moved = {std::min(moved.bytes, staging->done()), 0};
  std::atomic_ref(totals_.of_devices).fetch_add(moved.bytes, std::memory_order_relaxed);
  if (!failure) return {};
  return attempt([&] { return device_error(direction, failure); });
}

/// `failure`: the driver's error.
Error CallExecutor::device_error(Direction direction, const Error& failure) const {
  const std::string what =
      direction == Direction::write ? "cannot write to '" : "cannot read from '";
  return device::explain(what + path_ + "' with a buffer in a device's memory", failure);
}

Outcome CallExecutor::execute_device_stretch(const StretchCall& call, FileOffset begin,
                                             const device::Place& place) {
  TransferCall whole;
  whole.direction = call.direction;
  whole.count = call.bytes;
  whole.type = byte_;
  CollectiveTransfer::Moved moved;
  Error lost = attempt([&]() -> Error {
    const view::Cursor memory(byte_, 0, call.bytes);
    const auto staging =
        device::Staging::make(call.direction, place, call.memory, memory, own_share_);
    const Access access{.direction = call.direction,
                        .file = view::Cursor(byte_, begin, call.bytes),
                        .memory = memory,
                        .bytes = call.bytes,
                        .staging = staging.get()};
    moved.transferred = direct_transfer(store_, access, 0);
    return end_staging(staging.get(), call.direction, moved.transferred);
  });
  return finish(whole, call.bytes, moved, lost ? &lost : nullptr);
}

}  // namespace headrace::file
