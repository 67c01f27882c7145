#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exchange/file_team.h"
#include "sim/disk.h"
#include "sim/mailbox.h"

namespace headrace::sim {

/// Calls body(rank, team, file system) on a thread for each rank, and waits for all of them.
using RankBody =
    std::function<void(int rank, std::shared_ptr<exchange::FileTeam>, storage::FileSystem&)>;
void run_ranks(const std::vector<std::string>& nodes, Disk& disk, const RankBody& body);

/// The same with an office of the caller's, for as many ranks.
void run_ranks(PostOffice& office, const std::vector<std::string>& nodes, Disk& disk,
               const RankBody& body);

}  // namespace headrace::sim
