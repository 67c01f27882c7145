#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "record/clock.h"
#include "record/gather.h"
#include "record/job_record.h"
#include "unit/made_images.h"

/// Images of ranks that made known calls, for what reads them.
///
///     make_images images DIRECTORY RANKS    prints what was put in, one JSON object for each rank
///     make_images measure DIRECTORY         prints what gathering, collecting and writing take
namespace {

using namespace headrace;
using namespace headrace::record;

void fill(MadeImage& made, int rank, int ranks) {
  const std::uint32_t world = made.world(ranks);
  const std::uint32_t pair = made.note(NoteKind::communicator, {"0", "2", "2", ""});
  for (int i = 0; i < 3; ++i) {
    made.call("MPI_Send", CallClass::point_to_point, world, 100 + rank, 1000 + i);
    made.thread->add_message((rank + 1) % ranks, 100 + rank);
  }
  Row& row = made.call("MPI_Allreduce", CallClass::collective, pair, 8, 5000);
  row.received += 8;
  row.failed += rank == 0 ? 1 : 0;
  made.thread->add_message(-2, 5);
  FileCounts& file = made.file("/scratch/out\xff.dat");
  file.opens = 1;
  file.written = 4096;
  file.store_read = -1;
  file.ticks = 600;
  made.decision({"out.dat write", "staged", "small", "direct 9 ms"}, 3000, {5, 154});
  made.note(NoteKind::setting, {"HEADRACE_QUIET", "1", "environment"});
  made.note(NoteKind::variable, {"OMP_NUM_THREADS", "4"});
  for (const auto& [name, value] : Facts{{"host", "n0"},
                                         {"cores", std::to_string(rank)},
                                         {"program", "/opt/app/bin/app"},
                                         {"job", "1234"},
                                         {"mpi", "MPICH 5.0.2"}}) {
    made.note(NoteKind::fact, {name, value});
  }
}

void print_rank(const MadeImage& made, int rank, int ranks) {
  const ImageHeader& header = made.image->header();
  const std::int64_t tick = header.has_steady_counter != 0 ? 1 : MadeImage::kTicksOfNs;
  std::printf(
      "{\"rank\": %d, \"process\": %d, \"calls\": 3, \"sent\": %d, \"send_ns\": %ld, "
      "\"peer\": %d, \"allreduce_ns\": %ld, \"failed\": %d, \"file_ns\": %ld}\n",
      rank, header.process, 3 * (100 + rank), 3003 * tick, (rank + 1) % ranks, 5000 * tick,
      rank == 0 ? 1 : 0, 300 * tick);
}

/// Rank 3 was killed: its image is as a process left it that is gone, and its clock counts ns.
int make(const std::string& directory, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    MadeImage made(directory, "job", rank, ranks);
    if (made.thread == nullptr) return 1;
    fill(made, rank, ranks);
    if (rank == 3) {
      made.image->header().process_start += 1;
      made.image->header().has_steady_counter = 0;
    } else {
      made.finish();
    }
    print_rank(made, rank, ranks);
  }
  return 0;
}

std::int64_t noise_of(int rank, int site) {
  return (std::int64_t{rank} * 7919 + std::int64_t{site} * 104729) % 1'000'003;
}

/// One of 64 call paths: each bit of `way` is one of two call sites.
[[gnu::noipa]] int branch(MadeImage& made, std::uint32_t world, int rank, int site, unsigned way,
                          int levels) {
  if (levels == 0) {
    const std::int64_t ns = 100'000 + noise_of(rank, site);
    const std::int64_t calls = 3 + ns % 5;
    for (int i = 0; i < calls; ++i) {
      made.call(site % 3 == 0   ? "MPI_Allreduce"
                : site % 3 == 1 ? "MPI_Send"
                                : "MPI_Recv",
                site % 3 == 0 ? CallClass::collective : CallClass::point_to_point, world,
                8000 + ns % 1000, ns + i * 97);
    }
    return 1;
  }
  int more = 0;
  if ((way & 1) != 0) {
    more = branch(made, world, rank, site, way >> 1, levels - 1);
    asm volatile("nop");
  } else {
    more = branch(made, world, rank, site, way >> 1, levels - 1);
    asm volatile("");
  }
  return more + 1;
}

/// As a real program's rank: 60 call sites of depth 8, 26 peers.
void fill_typical(MadeImage& made, int rank, int ranks) {
  constexpr int kSites = 60;
  constexpr int kPeers = 26;
  const std::uint32_t world = made.world(ranks);
  for (int site = 0; site < kSites; ++site) {
    branch(made, world, rank, site, static_cast<unsigned>(site), 6);
  }
  for (int step = 1; step <= kPeers; ++step) {
    for (int i = 0; i < 100; ++i) made.thread->add_message((rank + step) % ranks, 8);
  }
  made.note(NoteKind::fact, {"host", "node" + std::to_string(rank / 64)});
  made.note(NoteKind::fact, {"program", "/opt/app/bin/app"});
  made.finish();
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

constexpr int kRanks = 4096;
constexpr int kOnNode = 64;
constexpr int kNodes = kRanks / kOnNode;

/// Each node's part, as its leader sends it. Empty where that failed.
std::vector<std::string> gather_nodes(const std::string& directory, std::vector<double>& times) {
  std::vector<std::string> blocks;
  for (int node = 0; node < kNodes; ++node) {
    const std::string job = "node-" + std::to_string(node);
    std::vector<std::string> paths;
    for (int rank = node * kOnNode; rank < (node + 1) * kOnNode; ++rank) {
      MadeImage made(directory, job, rank, kRanks);
      if (made.thread == nullptr) return {};
      fill_typical(made, rank, kRanks);
      paths.push_back(made.image->path());
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto gathered = gather_images(paths, static_cast<std::uint32_t>(node));
    if (!gathered) return {};
    blocks.push_back(pack_node(gathered.value()));
    times.push_back(milliseconds_since(begin));
    for (const std::string& path : paths) ::unlink(path.c_str());
    ::rmdir((directory + "/" + job).c_str());
  }
  return blocks;
}

/// As rank 0 does it with what the others send.
Result<WrittenRecord> collect(const std::vector<std::string>& blocks,
                              const std::string& directory) {
  JobRecord job({}, {{directory + "/records"}});
  for (const std::string& block : blocks) {
    if (Error failed = job.add(std::move(unpack_node(block).value()))) return failed;
  }
  return job.finish();
}

int measure(const std::string& directory) {
  std::vector<double> times;
  const std::vector<std::string> blocks = gather_nodes(directory, times);
  if (blocks.empty()) {
    std::fprintf(stderr, "no images were made in '%s' (it must be this user's alone: mode 0700)\n",
                 directory.c_str());
    return 1;
  }
  std::size_t largest = 0;
  for (const std::string& block : blocks) largest = std::max(largest, block.size());
  const auto begin = std::chrono::steady_clock::now();
  const Result<WrittenRecord> written = collect(blocks, directory);
  const double took = milliseconds_since(begin);
  if (!written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 1;
  }
  struct stat status{};
  ::stat(written.value().path.c_str(), &status);
  std::ranges::sort(times);
  std::printf("64 ranks gathered in %.1f ms (median of 64; at most %.1f ms); a block has %.2f MB\n",
              times[kNodes / 2], times.back(), static_cast<double>(largest) / 1e6);
  std::printf("4096 ranks on 64 nodes: %.1f MB, collected and written in %.1f ms: %s\n",
              static_cast<double>(status.st_size) / 1e6, took, written.value().path.c_str());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  choose_clock();
  if (count == 4 && std::strcmp(words[1], "images") == 0) {
    return make(words[2], std::atoi(words[3]));
  }
  if (count == 3 && std::strcmp(words[1], "measure") == 0) return measure(words[2]);
  std::fprintf(stderr, "usage: make_images images DIRECTORY RANKS | measure DIRECTORY\n");
  return 2;
}
