#include "abi/flavour/recorded_communicator.h"

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "record/recorder.h"

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

constexpr std::size_t kMostKept = 4096;

using Key = std::uintptr_t;

struct Known {
  std::mutex mutex;
  std::unordered_map<Key, std::shared_ptr<const RecordedCommunicator>> by_handle;
};

Known& known() {
  static auto& only = *new Known;  // never destroyed: calls arrive during exit, too
  return only;
}

/// Grows whenever a handle may come to mean another communicator.
std::atomic<std::uint64_t> generation = 1;

/// A thread's latest ones.
struct Latest {
  Key key = 0;
  std::uint64_t generation = 0;
  std::shared_ptr<const RecordedCommunicator> communicator;
};
thread_local std::array<Latest, 4> latest;

std::string_view name_of(MPI_Comm communicator) {
  if (communicator == MPI_COMM_WORLD) return "MPI_COMM_WORLD";
  if (communicator == MPI_COMM_SELF) return "MPI_COMM_SELF";
  return "";
}

std::int64_t neighbors_of(MPI_Comm communicator, int rank) {
  int topology = MPI_UNDEFINED;
  if (native.Topo_test(communicator, &topology) != MPI_SUCCESS) return 0;
  int number = 0;
  int sources = 0;
  int is_weighted = 0;
  if (topology == MPI_CART) {
    native.Cartdim_get(communicator, &number);
    number *= 2;
  } else if (topology == MPI_GRAPH) {
    native.Graph_neighbors_count(communicator, rank, &number);
  } else if (topology == MPI_DIST_GRAPH) {
    native.Dist_graph_neighbors_count(communicator, &sources, &number, &is_weighted);
  }
  return number;
}

bool has_ranks_of_world(MPI_Comm communicator) {
  if (communicator == MPI_COMM_WORLD) return true;
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int result = MPI_UNEQUAL;
  if (native.Comm_group(communicator, &own) == MPI_SUCCESS &&
      native.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
    native.Group_compare(own, world, &result);
  }
  if (own != MPI_GROUP_NULL) native.Group_free(&own);
  if (world != MPI_GROUP_NULL) native.Group_free(&world);
  return result == MPI_IDENT;
}

const RecordedCommunicator& find(MPI_Comm communicator) {
  const Key key = handle_key(communicator);
  Latest& own = latest[(key >> 4 ^ key) % latest.size()];
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (own.key == key && own.generation == now) return *own.communicator;
  Known& all = known();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_handle.find(key);
    if (found != all.by_handle.end()) {
      own = {key, now, found->second};
      return *own.communicator;
    }
  }
  auto made = std::make_shared<const RecordedCommunicator>(communicator);  // calls MPI: no lock
  const std::lock_guard lock(all.mutex);
  if (all.by_handle.size() >= kMostKept) all.by_handle.clear();
  all.by_handle[key] = made;
  own = {key, now, std::move(made)};
  return *own.communicator;
}

}  // namespace

RecordedCommunicator::RecordedCommunicator(MPI_Comm communicator)
    : communicator_(communicator), is_known_(true) {
  int is_inter = 0;
  native.Comm_test_inter(communicator, &is_inter);
  native.Comm_rank(communicator, &rank_);
  native.Comm_size(communicator, &size_);
  is_inter_ = is_inter != 0;
  if (is_inter_) {
    native.Comm_remote_size(communicator, &remote_size_);
  } else {
    is_world_ = has_ranks_of_world(communicator);
    neighbors_ = neighbors_of(communicator, rank_);
  }
  const std::string size = std::to_string(size_);
  const std::string on_node = record::job_mark().is_on_one_node() ? size : "-1";
  const std::string_view fields[] = {is_inter_ ? "1" : "0", size, on_node, name_of(communicator)};
  shape_ = record::add_note(record::NoteKind::communicator, fields);
}

std::int64_t RecordedCommunicator::in_world(int peer) const noexcept {
  if (is_world_) return peer;
  if (!is_known_) return kOutside;
  try {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = in_world_.try_emplace(peer, kOutside);
    if (is_new) place->second = translate(peer);
    return place->second;
  } catch (const std::bad_alloc&) {
    return kOutside;
  }
}

std::int64_t RecordedCommunicator::translate(int peer) const {
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int found = MPI_UNDEFINED;
  const int code = is_inter_ ? native.Comm_remote_group(communicator_, &own)
                             : native.Comm_group(communicator_, &own);
  if (code == MPI_SUCCESS && native.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
    native.Group_translate_ranks(own, 1, &peer, world, &found);
  }
  if (own != MPI_GROUP_NULL) native.Group_free(&own);
  if (world != MPI_GROUP_NULL) native.Group_free(&world);
  return found == MPI_UNDEFINED ? kOutside : found;
}

const RecordedCommunicator& recorded(MPI_Comm communicator) noexcept {
  try {
    return find(communicator);
  } catch (const std::bad_alloc&) {
    static const RecordedCommunicator unknown;
    return unknown;
  }
}

void forget(MPI_Comm communicator) noexcept {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.by_handle.erase(handle_key(communicator));
  generation.fetch_add(1, std::memory_order_release);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
