#include "abi/flavour/recorder_end.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/flavour/backoff.h"
#include "abi/flavour/communicator_messenger.h"
#include "abi/flavour/error.h"
#include "abi/flavour/job.h"
#include "abi/flavour/native.h"
#include "base/fingerprint.h"
#include "fabric/block_collection.h"
#include "record/job_end.h"
#include "record/recorder.h"
#include "topo/node.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

namespace {

using record::RankEnd;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int kTag = 1;
constexpr seconds kLeastPatience{60};
constexpr fabric::Patience kPatienceForNode = seconds{20};
/// A leader waits while rank 0 is busy with others, which may fail.
constexpr fabric::Patience kPatienceForTurn = seconds{60};

std::string library_version() {
  if (native.Get_library_version == nullptr) return "";
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (native.Get_library_version(text, &length) != MPI_SUCCESS) return "";
  const std::string whole(text);
  return whole.substr(0, whole.find('\n'));
}

#if defined(HEADRACE_FLAVOUR_OPENMPI)
constexpr const char* kAbi = "Open MPI";
#elif defined(HEADRACE_FLAVOUR_MPICH)
constexpr const char* kAbi = "MPICH";
#else
constexpr const char* kAbi = "MPI standard";
#endif

/// What rank 0 has until MPI has ended.
struct Collected {
  bool is_due = false;  ///< this is rank 0, and the record is still to be written
  std::string missing;  ///< why other nodes' parts are not there
  std::unique_ptr<record::JobRecord> job;  ///< null: only this node's images are to be read
};

Collected& collected() {
  static auto& only = *new Collected;  // never destroyed: programs may exit in a call
  return only;
}

/// The program's handler must not see our errors: it may end the job.
class QuietWorld {
 public:
  QuietWorld() {
    has_handler_ = native.Comm_get_errhandler(MPI_COMM_WORLD, &handler_) == MPI_SUCCESS;
    native.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~QuietWorld() {
    if (!has_handler_) return;
    native.Comm_set_errhandler(MPI_COMM_WORLD, handler_);
    native.Errhandler_free(&handler_);
  }
  QuietWorld(const QuietWorld&) = delete;
  QuietWorld& operator=(const QuietWorld&) = delete;

 private:
  MPI_Errhandler handler_{};
  bool has_handler_ = false;
};

/// Programs whose ranks end at different times do so by a part of their run. A rank that never
/// comes runs without the layer.
steady_clock::duration patience() {
  const auto run = std::chrono::nanoseconds(record::recorded_ns());
  return std::max<steady_clock::duration>(kLeastPatience, run / 10);
}

/// All ranks' `own`. Collectives of MPI_COMM_WORLD disturb no message of the program's, which has
/// none under way there: it has begun MPI_Finalize.
Result<std::vector<RankEnd>> exchange_ends(const RankEnd& own, int size) {
  // Where it is given up the library keeps them.
  struct Exchange {
    RankEnd own;
    std::vector<RankEnd> all;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  auto exchange = std::make_unique<Exchange>(
      Exchange{own, std::vector<RankEnd>(static_cast<std::size_t>(size))});
  if (native.Iallgather(&exchange->own, sizeof(RankEnd), MPI_BYTE, exchange->all.data(),
                        sizeof(RankEnd), MPI_BYTE, MPI_COMM_WORLD,
                        &exchange->request) != MPI_SUCCESS) {
    return native_failure("ask the other ranks for their part");
  }
  Backoff backoff;
  const auto begin = steady_clock::now();
  const auto longest = patience();
  for (;;) {
    int is_done = 0;
    const int code = native.Testall(1, &exchange->request, &is_done, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && is_done != 0) return std::move(exchange->all);
    if (code == MPI_SUCCESS && steady_clock::now() - begin < longest) {
      backoff.wait();
      continue;
    }
    static_cast<void>(exchange.release());
    const auto waited = std::chrono::duration_cast<seconds>(steady_clock::now() - begin);
    return Error(ErrorClass::other, 0,
                 {"other nodes' parts are missing: not all ranks came to MPI_Finalize with "
                  "Headrace within ",
                  std::to_string(waited.count()), " s"});
  }
}

/// Among the first ranks of all nodes, of which this is one; null where MPI refuses.
std::unique_ptr<fabric::Messenger> make_leaders(const std::vector<std::vector<int>>& nodes) {
  std::vector<int> ranks;
  for (const std::vector<int>& node : nodes) ranks.push_back(node.front());
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group leaders = MPI_GROUP_NULL;
  MPI_Comm own = MPI_COMM_NULL;
  const bool is_made = native.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
                       native.Group_incl(world, static_cast<int>(ranks.size()), ranks.data(),
                                         &leaders) == MPI_SUCCESS &&
                       native.Comm_create_group(MPI_COMM_WORLD, leaders, kTag, &own) == MPI_SUCCESS;
  if (leaders != MPI_GROUP_NULL) native.Group_free(&leaders);
  if (world != MPI_GROUP_NULL) native.Group_free(&world);
  return is_made && own != MPI_COMM_NULL ? make_messenger_on(own) : nullptr;
}

/// On rank 0.
void collect(fabric::Messenger* leaders, const std::vector<RankEnd>& ends,
             const std::vector<std::vector<int>>& nodes) {
  record::Facts facts = job_facts();
  facts.emplace_back("nodes", std::to_string(nodes.size()));
  auto job = std::make_unique<record::JobRecord>(std::move(facts), record::record_places());
  if (Error failed = job->add(record::gather_node(ends, nodes[0], 0))) {
    job->leave_out("node 0: " + failed.message);
  }
  std::vector<int> missing;
  if (leaders != nullptr) {
    missing = fabric::collect_blocks(
        *leaders, kTag, kPatienceForNode, [&](int node, std::string_view block) {
          auto part = record::unpack_node(block);
          Error problem = part ? job->add(std::move(part.value())) : part.error();
          if (problem) job->leave_out("node " + std::to_string(node) + ": " + problem.message);
        });
  } else {
    for (int node = 1; node < static_cast<int>(nodes.size()); ++node) missing.push_back(node);
  }
  for (const int node : missing) {
    const std::vector<int>& ranks = nodes[static_cast<std::size_t>(node)];
    job->leave_out("node " + std::to_string(node) + ", of which rank " +
                   std::to_string(ranks.front()) + " is the first, did not send its part");
  }
  record::remove_images(ends, nodes[0]);
  collected().job = std::move(job);
}

/// On a leader but rank 0. What was not taken stays.
void hand_over(fabric::Messenger& leaders, const std::vector<RankEnd>& ends,
               const std::vector<int>& ranks) {
  const auto node = static_cast<std::uint32_t>(leaders.rank());
  std::string block;
  const Error failed = attempt([&]() -> Error {
    block = record::pack_node(record::gather_node(ends, ranks, node));
    return {};
  });
  // An empty one tells rank 0 that there is none.
  if (!fabric::hand_block(leaders, kTag, block, kPatienceForTurn) && !failed) {
    record::remove_images(ends, ranks);
  }
}

Error gather_job(int rank) {
  int size = 0;
  native.Comm_size(MPI_COMM_WORLD, &size);
  Fingerprint node;
  for (const char byte : topo::node_identity()) node.add_byte(static_cast<unsigned char>(byte));
  const QuietWorld quiet;
  const auto ends = exchange_ends(record::own_end(node.value()), size);
  if (!ends) return ends.error();
  const std::vector<std::vector<int>> nodes = record::nodes_of(ends.value());
  if (nodes.size() == 1) return {};
  for (const std::vector<int>& ranks : nodes) {
    if (ranks.front() != rank) continue;
    const std::unique_ptr<fabric::Messenger> leaders = make_leaders(nodes);
    if (rank == 0) {
      collect(leaders.get(), ends.value(), nodes);
    } else if (leaders != nullptr) {
      hand_over(*leaders, ends.value(), ranks);
    }
  }
  return {};
}

void finish_at_exit() {
  finish_record();
}

}  // namespace

record::Facts job_facts() {
  return {{"mpi", library_version()}, {"abi", kAbi}};
}

bool is_wanted(const Settings& settings) {
  return settings.record;
}

void end_world() noexcept {
  if (!is_wanted(settings()) || !record::is_this_process()) return;
  record::mark_end(record::RankState::finalized);
  record::stop_recorder();
  const int rank = rank_in_job();
  Error failed;
  if (!record::job_mark().is_on_one_node()) failed = attempt([&] { return gather_job(rank); });
  if (rank != 0) return;
  collected().is_due = true;
  collected().missing = std::move(failed.message);
  // Where MPI_Finalize does not come back to us.
  std::atexit(&finish_at_exit);
}

void finish_record() noexcept {
  Collected& own = collected();
  if (!std::exchange(own.is_due, false) || !record::is_this_process()) return;
  const Error failed = attempt([&]() -> Error {
    if (own.job != nullptr) {
      record::finish_job(*own.job);
    } else {
      record::finish_job(job_facts(), own.missing);
    }
    return {};
  });
  static_cast<void>(failed);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
