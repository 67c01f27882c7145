#include "posix/buffer_slot.h"

#include <cstring>

#include "base/plain_message.h"
#include "base/plain_text.h"

namespace headrace::posix::buffers {
namespace {

/// Of numbers.
using Digits = PlainText<24>;

Digits digits(std::int64_t number) {
  return Digits().add_number(number);
}

}  // namespace

void BufferSlot::set_file(const FileIdentity& file) noexcept {
  device_ = file.device;
  inode_ = file.inode;
}

void BufferSlot::clear() noexcept {
  buffer.end();
  claim = HeldDescriptor();
  is_on = false;
  unreported_error = 0;
  is_told = false;
  notes_write = false;
  later = Later::nothing;
  is_taken = false;
}

void BufferSlot::tell_end() const noexcept {
  if (!is_verbose) return;
  print_plain_message({"buffers of '", name.text(), "': ", digits(buffer.calls[1]),
                       " writes became ", digits(buffer.moves(1)), ", ", digits(buffer.calls[0]),
                       " reads became ", digits(buffer.moves(0))});
}

void BufferSlot::tell_lost(std::int64_t bytes) const noexcept {
  print_plain_message({digits(bytes), " bytes of '", name.text(),
                       "' are lost (they were buffered, and the descriptor was closed by a direct "
                       "system call), leave the file out of HEADRACE_IOBUF"});
}

void BufferSlot::tell_busy(std::int64_t bytes) const noexcept {
  print_plain_message({digits(bytes), " bytes of '", name.text(),
                       "' may be lost (they were buffered, and another thread is using the "
                       "descriptor), close it before the program ends or executes another"});
}

void tell_failed(int error) noexcept {
  print_plain_message({"what was buffered cannot be written (", std::strerror(error),
                       "), close files one by one and check what close returns"});
}

}  // namespace headrace::posix::buffers
