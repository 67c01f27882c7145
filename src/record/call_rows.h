#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/generated/tables.h"
#include "record/image.h"
#include "record/rank_times.h"

namespace headrace::record {

/// As a peer: all that are not in MPI_COMM_WORLD.
inline constexpr std::int64_t kOutsidePeers = -2;

/// What stands in a row of `calls` for a row of an image; the caller fills in what it is about.
/// What a killed process left half written is brought into bounds.
CallsRow call_row(const Row& row, const RankTimes& times);

/// The same of one of `waits`.
WaitsRow waits_row(const WaitItem& item, const RankTimes& times);

/// Sorts them so that columns have long stretches of equal or growing numbers, and makes one row of
/// those about the same thing.
void sort_and_merge(std::vector<CallsRow>& rows);
void sort_and_merge(std::vector<WaitsRow>& rows);
void sort_and_merge(std::vector<MatrixRow>& rows);
void sort_and_merge(std::vector<FilesRow>& rows);
void sort_and_merge(std::vector<AccessesRow>& rows);

/// INT64_MAX at most.
std::int64_t sum(std::int64_t one, std::int64_t other);

}  // namespace headrace::record
