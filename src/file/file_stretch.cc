#include <cassert>
#include <cerrno>
#include <new>

#include "device/detection.h"
#include "file/open_file.h"
#include "storage/realigned_reads.h"
#include "view/copy.h"

// The most frequent call: one stretch of memory, one stretch of the file, and no rank to meet. It
// costs little more than its system call. So, until a driver is known, memory is not checked
// beforehand: if the CPU cannot touch it, the kernel returns EFAULT, and then its device is found.

namespace headrace::file {

namespace {

/// Like attempt(), without the cost of an Error.
Transferred move_or_lack_memory(storage::Store& store, const StretchCall& call, FileOffset place) {
  try {
    return move_stretch(store, call.direction, place, call.memory, call.bytes);
  } catch (const std::bad_alloc&) {
    return {0, ENOMEM};
  }
}

/// Whether the store may copy what it reads to this place itself. All other calls leave the memory
/// to the kernel, which returns EFAULT for memory that the CPU cannot touch.
bool is_misplaced_read(const StretchCall& call, FileOffset place) {
  const iovec segment{call.memory, static_cast<std::size_t>(call.bytes)};
  return call.direction == Direction::read && call.bytes >= storage::RealignedReads::kLeast &&
         storage::is_misplaced(place, segment);
}

}  // namespace

/// The call as a StretchCall; nothing if it has several stretches or must be refused.
std::optional<StretchCall> OpenFile::stretch_of(const TransferCall& call) {
  if (call.shared || call.in_parts || call.refused != ErrorClass::success) return std::nullopt;
  if (!call.type->is_contiguous() || call.count < 0) return std::nullopt;
  StretchCall stretch{call.direction, call.collective, call.offset, nullptr, 0};
  if (__builtin_mul_overflow(call.count, call.type->size(), &stretch.bytes)) return std::nullopt;
  stretch.memory = view::memory_at(call.buffer, call.type->true_lower_bound());
  return stretch;
}

/// Whether a call may be executed here, as far as that does not depend on the view and the call's
/// place in the file.
inline bool OpenFile::may_be_stretch(const StretchCall& call) const {
  const bool is_permitted = call.direction == Direction::write ? mode_.write : mode_.read;
  if (!is_permitted || mode_.sequential || executor_->verifies()) return false;
  if (is_atomic_.load(std::memory_order_relaxed)) return false;
  if (!call.collective) return true;
  if (buffered_ != nullptr) return false;  // it goes past the buffers, by way of the executor
  return !executor_->collective().choice(call.direction).meets() && !split_.is_active();
}

std::optional<Outcome> OpenFile::transfer_stretch(const StretchCall& call) {
  assert(call.bytes >= 0);
  if (!may_be_stretch(call)) return std::nullopt;
  // Buffers are filled by the CPU.
  const bool may_fault = buffered_ != nullptr || device::is_driver_known();
  if (may_fault && device::find(call.memory)) return std::nullopt;
  PointerMove move;
  const std::optional<FileOffset> place =
      call.offset ? pointer_.stretch().place_of(*call.offset, call.bytes)
                  : pointer_.take_stretch(call.bytes, move);
  if (!place) return std::nullopt;
  const record::CallTimer timer(recorded_.counts(), call.collective);
  recorded_.note_call(call.direction, call.collective);
  if (call.collective) executor_->collective().choice(call.direction).note_call(false);
  const bool may_not_copy = is_misplaced_read(call, *place) && device::find(call.memory);
  const Transferred done =
      may_not_copy ? Transferred{0, EFAULT} : move_or_lack_memory(*store_, call, *place);
  if (done.system_error == EFAULT) [[unlikely]] {
    if (const auto device = device::find(call.memory)) {
      Outcome outcome = executor_->execute_device_stretch(call, *place, *device);
      const ByteCount missing = call.bytes - outcome.bytes;
      if (missing > 0) pointer_.pull_back(call.direction, missing, move);
      return outcome;
    }
  }
  executor_->count(call.direction, policy::Path::direct, done.bytes);
  if (call.collective) {
    recorded_.note_choice(executor_->collective().choice(call.direction), call.direction,
                          timer.elapsed());
  }
  if (done.bytes < call.bytes) pointer_.pull_back(call.direction, call.bytes - done.bytes, move);
  if (done.system_error == 0) return Outcome{done.bytes, {}};
  return Outcome{done.bytes, failures_->fail(call.direction, done.system_error)};
}

}  // namespace headrace::file
