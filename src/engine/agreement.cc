#include "engine/agreement.h"

#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "base/settings.h"
#include "engine/packed_wishes.h"
#include "topo/node.h"

namespace headrace::engine {
namespace {

using exchange::Combine;
using exchange::Values;
using policy::Wish;

ByteCount mean_piece(const view::Type& filetype) {
  if (filetype.size() == 0 || filetype.is_contiguous()) return policy::kContiguousView;
  return filetype.size() / filetype.piece_count();
}

/// Whole pages, and whole stripes where they are known. Larger stripes than would leave memory for
/// another file are cut into several windows.
ByteCount window_size(ByteCount buffer_size, ByteCount stripe) {
  constexpr ByteCount kLargestWindow = ByteCount{4} << 20;
  const ByteCount most = std::max(buffer_size, kLargestWindow);
  if (stripe <= most) return round_up(buffer_size, std::max(kPage, stripe));
  return plan::domain_window(buffer_size, most, {.stripe_size = stripe});
}

/// What must be the same on all ranks of a view (MPI 4.1, section 14.3), in one number of 62 bits:
/// FNV-1a over the etype's extent and the representation's name.
std::int64_t form_of(const View& view) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t form = 0xcbf29ce484222325;
  const auto add = [&form](std::uint64_t byte) { form = (form ^ (byte & 0xff)) * kPrime; };
  const auto extent = static_cast<std::uint64_t>(view.etype->extent());
  for (int shift = 0; shift < 64; shift += 8) add(extent >> shift);
  for (const char letter : view.datarep) add(static_cast<unsigned char>(letter));
  return static_cast<std::int64_t>(form >> 2);
}

Wish common_wish(std::int64_t least, std::int64_t greatest) {
  return least == greatest ? static_cast<Wish>(least) : Wish::automatic;
}

constexpr std::int64_t kUsualSlots = 8;

std::int64_t slot_count_of(const exchange::Channel& channel) {
  if (settings().buffer_count > 0) return settings().buffer_count;
  return channel.is_crowded() ? 2 * kUsualSlots : kUsualSlots;
}

}  // namespace

std::int64_t code_of(const Error& error) {
  return (static_cast<std::int64_t>(error.error_class) << 32) + error.system_error;
}

Error own_or_others(const Error& mine, std::int64_t code, const Undertaking& what) {
  if (mine || code == 0) return mine;
  const auto system_error = static_cast<int>(code & 0xffffffff);
  const std::string reason =
      system_error == 0 ? "" : std::string(": ") + std::strerror(system_error);
  return {static_cast<ErrorClass>(code >> 32), system_error,
          what.text() + " (another rank failed" + reason + "), see that rank's error"};
}

Result<Agreement> agree(exchange::Channel& channel, const Error& failed, const Undertaking& what,
                        const HintValues& wanted, const View& view, const storage::Layout& layout) {
  constexpr Combine ways[] = {Combine::max, Combine::min, Combine::max, Combine::min, Combine::max,
                              Combine::min, Combine::min, Combine::min, Combine::min, Combine::min,
                              Combine::max, Combine::max, Combine::max, Combine::min, Combine::max};
  const view::Type& filetype = *view.filetype;
  const std::int64_t form = form_of(view);
  const std::int64_t wishes = pack_aggregators(wanted);
  // Memory is taken before the ranks meet: afterwards each must do what the others do.
  int places = 0;
  const Error lacking = attempt([&]() -> Error {
    places = wanted.hosts.most_on(topo::host_name(), channel.node_size());
    return {};
  });
  const Error& mine = failed ? failed : lacking;
  Values values{code_of(mine),
                static_cast<std::int64_t>(wanted.write_path),
                static_cast<std::int64_t>(wanted.write_path),
                static_cast<std::int64_t>(wanted.read_path),
                static_cast<std::int64_t>(wanted.read_path),
                wanted.buffer_size,
                slot_count_of(channel),
                mean_piece(filetype),
                filetype.is_monotonic() ? 1 : 0,
                form,
                form,
                pack_stripes(wanted),
                wishes,
                wishes,
                storage::pack(layout)};
  if (Error error = channel.combine(values, ways)) return error;
  if (Error error = own_or_others(mine, values[0], what)) return error;
  if (values[9] != values[10]) {
    return Error{ErrorClass::not_same, 0,
                 what.text() +
                     " (the data representation or the etype's extent in it is not the same on "
                     "all ranks), pass the same everywhere"};
  }
  Agreement agreement;
  agreement.write_path = common_wish(values[1], values[2]);
  agreement.read_path = common_wish(values[3], values[4]);
  agreement.layout = storage::unpack_layout(values[14]);
  const Stripes stripes = stripes_of(agreement.layout, values[11]);
  agreement.stripe = stripes.size;
  agreement.stripe_count = stripes.count;
  agreement.window_size = window_size(values[5], stripes.size);
  unpack_aggregators(values[12], agreement);
  agreement.lock_ahead = agreement.lock_ahead && storage::has_lock_ahead(agreement.layout.kind);
  agreement.same_wishes = values[12] == values[13];
  agreement.places = places;
  agreement.slot_count =
      static_cast<int>(std::clamp<std::int64_t>(values[6], 2, exchange::kMostSlots));
  agreement.view = {.node_ranks = channel.node_size(),
                    .smallest_mean_piece = values[7],
                    .is_monotonic = values[8] == 1,
                    .nodes = channel.node_count(),
                    .stripe = agreement.stripe,
                    .window = agreement.window_size,
                    .is_coherent = agreement.layout.is_coherent || is_pretended(values[11])};
  return agreement;
}

Error agree_on_error(exchange::Channel& channel, const Error& mine, const Undertaking& what) {
  constexpr Combine ways[] = {Combine::max};
  Values values{code_of(mine)};
  if (Error error = channel.combine(values, ways)) return error;
  return own_or_others(mine, values[0], what);
}

}  // namespace headrace::engine
