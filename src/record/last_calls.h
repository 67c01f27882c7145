#pragma once

#include <optional>
#include <span>
#include <vector>

#include "record/generated/tables.h"
#include "record/image_reader.h"
#include "record/rank_times.h"

namespace headrace::record {

/// What stands in `last_calls` for a thread's last call; the caller fills in what it is about. None
/// of a rank that came to MPI_Finalize, but for that call.
std::optional<LastCallsRow> last_call(const Image& image, const ThreadItem& thread,
                                      const RankTimes& times);

/// Sorts them. Where all ranks of the node came to MPI_Finalize, none is left: they are in it while
/// the record is made.
void sort_last_calls(std::vector<LastCallsRow>& rows, std::span<const RanksRow> ranks);

}  // namespace headrace::record
