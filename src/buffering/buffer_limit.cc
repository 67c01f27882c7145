#include "buffering/buffer_limit.h"

#include <algorithm>
#include <atomic>

#include "base/readable.h"
#include "base/rounding.h"
#include "base/settings.h"

namespace headrace::buffering {
namespace {

constexpr ByteCount kLeastSize = 4096;
constexpr ByteCount kMebibyte = ByteCount{1} << 20;
constexpr ByteCount kMostMemory = ByteCount{64} << 30;  // that HEADRACE_NODE_MEMORY may be
constexpr std::int64_t kShares = 8;                     // of the node's memory, for one of them

struct Cut {
  BufferShape wanted;
  BufferShape given;
  std::int64_t ranks = 0;
};

Cut first_cut;
std::atomic<bool> is_taken = false;
std::atomic<bool> is_noted = false;

bool is_less(const BufferShape& given, const BufferShape& wanted) {
  return given.size < wanted.size || given.count < wanted.count;
}

/// As the setting is written: "32g", or "768m".
std::string as_setting(ByteCount bytes) {
  const ByteCount mebibytes = round_up(bytes, kMebibyte) / kMebibyte;
  const bool is_whole = mebibytes % 1024 == 0;
  return std::to_string(is_whole ? mebibytes / 1024 : mebibytes) + (is_whole ? "g" : "m");
}

}  // namespace

BufferShape limited(BufferShape shape, ByteCount most) {
  const std::int64_t least = std::min<std::int64_t>(shape.count, 2);
  shape.count = std::min(shape.count, std::max(most / shape.size, least));
  if (shape.bytes() > most && most < least * kLeastSize) shape.count = most / kLeastSize;
  if (shape.bytes() > most) shape.size = most / shape.count / kLeastSize * kLeastSize;
  shape.prefetch = std::min(shape.prefetch, std::max<std::int64_t>(shape.count - 1, 0));
  return shape;
}

std::string cut_line(const BufferShape& wanted, const BufferShape& given, std::int64_t ranks) {
  if (!is_less(given, wanted)) return {};
  const std::string variable = settings().variable_of("HEADRACE_IOBUF");
  const ByteCount needed = wanted.bytes() * kShares * ranks;
  const std::string blocks = std::to_string(wanted.count) + " of " + readable(wanted.size);
  const std::string now =
      given.count == 0 ? "none" : std::to_string(given.count) + " of " + readable(given.size);
  const std::string smaller = "ask for fewer bytes in " + variable;
  return "buffers of a file are " + now + " instead of " + blocks + " (" + std::to_string(ranks) +
         (ranks == 1 ? " rank has" : " ranks of a node share") +
         " an eighth of HEADRACE_NODE_MEMORY, which is " + readable(settings().node_memory) +
         "), " +
         (needed <= kMostMemory
              ? "set HEADRACE_NODE_MEMORY=" + as_setting(needed) + " or " + smaller
              : smaller);
}

void note_cut(const BufferShape& wanted, const BufferShape& given, std::int64_t ranks) noexcept {
  if (!is_less(given, wanted) || is_taken.exchange(true)) return;
  first_cut = {wanted, given, ranks};
  is_noted = true;
}

std::string noted_cut_line() {
  return is_noted ? cut_line(first_cut.wanted, first_cut.given, first_cut.ranks) : std::string();
}

}  // namespace headrace::buffering
