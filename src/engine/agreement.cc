#include "engine/agreement.h"

#include <algorithm>
#include <limits>

#include "base/settings.h"

namespace headrace::engine {
namespace {

using exchange::Combine;
using exchange::Values;
using policy::Wish;

constexpr ByteCount kPage = 4096;

Error error_of_others(const Error& mine, std::int64_t error_class, std::int64_t system_error,
                      const std::string& what) {
  if (mine) return mine;
  const auto reason = static_cast<int>(system_error);
  std::string message = what + " (another rank failed";
  if (reason != 0) message += ": " + system_failure(reason, "").message;
  return {static_cast<ErrorClass>(error_class), reason, message + "), see that rank's error"};
}

ByteCount mean_piece(const view::Type& filetype) {
  if (filetype.size() == 0 || filetype.is_contiguous()) return policy::kContiguousView;
  return filetype.size() / filetype.piece_count();
}

ByteCount round_up(ByteCount value, ByteCount multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Whole pages, and whole stripes where these are whole pages too, as all real ones are.
ByteCount window_size(ByteCount buffer_size, ByteCount striping_unit) {
  const ByteCount unit = striping_unit % kPage == 0 && striping_unit > 0 ? striping_unit : kPage;
  return round_up(buffer_size, unit);
}

Wish common_wish(std::int64_t least, std::int64_t greatest) {
  return least == greatest ? static_cast<Wish>(least) : Wish::automatic;
}

}  // namespace

Result<Agreement> agree(exchange::Channel& channel, const Error& failed, const HintValues& wanted,
                        const view::Type& filetype) {
  constexpr Combine ways[] = {Combine::max, Combine::max, Combine::min, Combine::max, Combine::min,
                              Combine::max, Combine::min, Combine::min, Combine::min, Combine::min};
  Values values{static_cast<std::int64_t>(failed.error_class),
                failed.system_error,
                static_cast<std::int64_t>(wanted.write_path),
                static_cast<std::int64_t>(wanted.write_path),
                static_cast<std::int64_t>(wanted.read_path),
                static_cast<std::int64_t>(wanted.read_path),
                window_size(wanted.buffer_size, wanted.striping_unit),
                settings().buffer_count,
                mean_piece(filetype),
                filetype.is_monotonic() ? 1 : 0};
  if (Error error = channel.combine(values, ways)) return error;
  if (values[0] != static_cast<std::int64_t>(ErrorClass::success)) {
    return error_of_others(failed, values[0], values[1], "the call failed");
  }
  Agreement agreement;
  agreement.write_path = common_wish(values[2], values[3]);
  agreement.read_path = common_wish(values[4], values[5]);
  agreement.window_size = values[6];
  agreement.slot_count =
      static_cast<int>(std::clamp<std::int64_t>(values[7], 2, exchange::kMostSlots));
  agreement.view = {channel.node_size(), values[8], values[9] == 1};
  return agreement;
}

Error agree_on_error(exchange::Channel& channel, const Error& mine, const std::string& what) {
  constexpr Combine ways[] = {Combine::max, Combine::max};
  Values values{static_cast<std::int64_t>(mine.error_class), mine.system_error};
  if (Error error = channel.combine(values, ways)) return error;
  if (values[0] == static_cast<std::int64_t>(ErrorClass::success)) return {};
  return error_of_others(mine, values[0], values[1], what);
}

}  // namespace headrace::engine
