#pragma once

#include "record/access_counts.h"
#include "record/generated/tables.h"
#include "record/image.h"
#include "record/rank_times.h"

namespace headrace::record {

/// What stands in a row of `accesses`; the caller fills in what it is about. What a killed process
/// left half written is brought into bounds.
AccessesRow accesses_row(const AccessCounts& counts, const RankTimes& times);

/// The file was looked for, but not used.
bool is_empty(const AccessesRow& row);

/// Adds what `row` counts.
void add_accesses(AccessesRow& into, const AccessesRow& row);

/// What the kernel counted between MPI_Init and MPI_Finalize, and the calls on no file.
void add_process_io(RanksRow& row, const ImageHeader& header);

}  // namespace headrace::record
