#include "record/last_calls.h"

#include <algorithm>
#include <tuple>

namespace headrace::record {

std::optional<LastCallsRow> last_call(const Image& image, const ThreadItem& thread,
                                      const RankTimes& times) {
  if (thread.last.procedure == kNone) return std::nullopt;
  const bool is_open = thread.last.begin > 0;
  const bool is_finalize =
      is_open && image.field(NoteKind::procedure, thread.last.procedure, 0) == "MPI_Finalize";
  if (times.end().state == RankState::finalized && !is_finalize) return std::nullopt;
  LastCallsRow row;
  row.open = is_open ? 1 : 0;
  const std::int64_t since = is_open ? thread.last.begin : thread.last_ticks;
  const std::int64_t until = is_open ? times.end().heard : times.end().ticks;
  row.time =
      times.ns(std::max<std::int64_t>(until - std::max(since, image.header().begin_ticks), 0));
  return row;
}

void sort_last_calls(std::vector<LastCallsRow>& rows, std::span<const RanksRow> ranks) {
  constexpr auto kFinalized = static_cast<std::int64_t>(RankState::finalized);
  if (std::ranges::all_of(ranks, [](const RanksRow& row) { return row.state == kFinalized; })) {
    rows.clear();
  }
  std::ranges::sort(rows, {}, [](const LastCallsRow& row) {
    return std::tuple(-row.open, row.procedure, row.path, row.rank, row.thread);
  });
}

}  // namespace headrace::record
