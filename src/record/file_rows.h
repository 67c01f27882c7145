#pragma once

#include "record/file_counts.h"
#include "record/generated/tables.h"
#include "record/rank_times.h"

namespace headrace::record {

/// The row of one file on one rank, but for the rank and the name.
FilesRow files_row(const FileCounts& counts, const RankTimes& times);
/// Adds what another row of the same rank and name has.
void add_files(FilesRow& into, const FilesRow& row);

}  // namespace headrace::record
