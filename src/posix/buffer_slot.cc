#include "posix/buffer_slot.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/plain_message.h"
#include "base/settings.h"

namespace headrace::posix::buffers {
namespace {

/// A number as text, without memory.
class Digits {
 public:
  explicit Digits(std::int64_t number)
      : end_(std::to_chars(room_.data(), room_.data() + room_.size(), number).ptr) {}
  operator std::string_view() const {
    return {room_.data(), static_cast<std::size_t>(end_ - room_.data())};
  }

 private:
  std::array<char, 24> room_{};
  const char* end_;
};

/// Files of one process each: all of them with `verbose`, those of the job's first else.
bool is_told(bool is_verbose) {
  return is_verbose || (settings().hints_display && speaks_for_job());
}

}  // namespace

void BufferSlot::clear() noexcept {
  buffer.end();
  claim = HeldDescriptor();
  is_on = false;
  untold = 0;
  later = Later::nothing;
  is_taken = false;
}

/// Its end, which tells more than its begin.
void BufferSlot::set_name(std::string_view given) noexcept {
  name_size = std::min(given.size(), name.size());
  std::ranges::copy(given.substr(given.size() - name_size), name.begin());
}

void BufferSlot::tell_release(const char* why) const noexcept {
  if (is_told(is_verbose)) {
    print_plain_message({"'", text(), "' has no buffers from now on (", why, ")"});
  }
}

void BufferSlot::tell_end() const noexcept {
  if (!is_verbose) return;
  print_plain_message({"buffers of '", text(), "': ", Digits(buffer.calls[1]), " writes became ",
                       Digits(buffer.moves[1]), ", ", Digits(buffer.calls[0]), " reads became ",
                       Digits(buffer.moves[0])});
}

void BufferSlot::tell_lost(std::int64_t bytes) const noexcept {
  print_plain_message({Digits(bytes), " bytes of '", text(),
                       "' are lost (they were buffered, and the descriptor was closed past the C "
                       "library), leave the file out of HEADRACE_IOBUF"});
}

void tell_obstacle(const Obstacle& obstacle, std::string_view name, bool is_verbose) noexcept {
  if (obstacle.is_silent || !is_told(is_verbose)) return;
  print_plain_message({"'", name, "' has no buffers (", obstacle.why, "), ", obstacle.remedy});
}

void tell_start(ByteCount size, std::string_view name, bool is_verbose) noexcept {
  if (!is_told(is_verbose)) return;
  print_plain_message({"buffers of '", name, "': 1 of ", Digits(size), " bytes"});
}

void tell_no_slot(std::string_view name, bool is_verbose) noexcept {
  if (!is_told(is_verbose)) return;
  print_plain_message({"'", name, "' has no buffers (", Digits(kBufferSlots),
                       " files have some), name fewer files in HEADRACE_IOBUF"});
}

void tell_failed(int error) noexcept {
  print_plain_message({"what was buffered cannot be written (", std::strerror(error),
                       "), close files one by one and check what close returns"});
}

}  // namespace headrace::posix::buffers
