#include "sim/ranks.h"

#include <thread>

namespace headrace::sim {

void run_ranks(PostOffice& office, const std::vector<std::string>& nodes, Disk& disk,
               const RankBody& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < office.ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      const std::unique_ptr<storage::FileSystem> file_system = disk.file_system(rank);
      Result<std::shared_ptr<exchange::FileTeam>> team = exchange::FileTeam::create(
          std::make_unique<MailboxMessenger>(office, rank), nodes[static_cast<std::size_t>(rank)]);
      body(rank, std::move(team.value()), *file_system);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void run_ranks(const std::vector<std::string>& nodes, Disk& disk, const RankBody& body) {
  PostOffice office(static_cast<int>(nodes.size()));
  run_ranks(office, nodes, disk, body);
}

}  // namespace headrace::sim
