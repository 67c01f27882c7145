#include "abi/flavour/collective_communicator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "abi/flavour/attribute.h"
#include "abi/flavour/communicator_team.h"
#include "abi/flavour/job.h"
#include "base/message.h"
#include "base/settings.h"
#include "device/detection.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

std::atomic<bool> is_running = false;

/// Changes when a communicator ends, whose handle another one may get.
constinit std::atomic<std::uint64_t> generation = 1;

/// What this thread found last.
struct Found {
  std::uintptr_t key = 0;
  std::uint64_t generation = 0;
  CollectiveCommunicator* communicator = nullptr;
};
thread_local constinit Found found_last;

int forget_communicator(MPI_Comm, int, void* value, void*) {
  generation.fetch_add(1, std::memory_order_release);
  delete static_cast<CollectiveCommunicator*>(value);
  return MPI_SUCCESS;
}

int keyval_of_communicators() {
  static auto& keyval = *new Keyval([](int* made) {
    return native.Comm_create_keyval(&do_not_copy<MPI_Comm>, &forget_communicator, made, nullptr);
  });
  return is_initialized() ? keyval.get() : MPI_KEYVAL_INVALID;
}

/// Null where MPI refuses, or there is no memory.
CollectiveCommunicator* attribute_of(MPI_Comm communicator) {
  const int keyval = keyval_of_communicators();
  CollectiveCommunicator* kept = nullptr;
  int found = 0;
  if (keyval == MPI_KEYVAL_INVALID ||
      native.Comm_get_attr(communicator, keyval, &kept, &found) != MPI_SUCCESS) {
    return nullptr;
  }
  if (found != 0) return kept;
  auto made = std::make_unique<CollectiveCommunicator>(communicator);
  if (native.Comm_set_attr(communicator, keyval, made.get()) != MPI_SUCCESS) return nullptr;
  return made.release();  // now owned by the attribute
}

/// What carries calls out that we leave; none where the user wants us to carry out all we can.
std::optional<collective::Library> library_behind() {
  if (settings().coll_use == CollectiveUseSetting::always) return std::nullopt;
#ifdef HEADRACE_FLAVOUR_OPENMPI
  return collective::Library::openmpi;
#else
  static const collective::Library library = [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (native.Get_library_version != nullptr) native.Get_library_version(text, &length);
    const std::string_view version(text);
    if (version.find("Intel") != std::string_view::npos) return collective::Library::intel;
    return version.find("MPICH") != std::string_view::npos ? collective::Library::mpich
                                                           : collective::Library::other;
  }();
  return library;
#endif
}

std::string size_text(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  if (bytes < (std::size_t{1} << 20)) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

CollectiveCommunicator::CollectiveCommunicator(MPI_Comm communicator)
    : communicator_(communicator) {
  int is_inter = 0;
  native.Comm_test_inter(communicator, &is_inter);
  native.Comm_rank(communicator, &rank_);
  native.Comm_size(communicator, &size_);
  if (is_inter != 0 || size_ == 1) state_ = State::left_out;
}

CollectiveCommunicator* CollectiveCommunicator::find(MPI_Comm communicator) noexcept {
  if (!is_running.load(std::memory_order_acquire) || communicator == MPI_COMM_NULL) return nullptr;
  const std::uintptr_t key = handle_key(communicator);
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  Found& last = found_last;
  if (last.key == key && last.generation == now) return last.communicator;
  try {
    CollectiveCommunicator* const found = attribute_of(communicator);
    if (found != nullptr) last = {key, now, found};
    return found;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

collective::Ranks* CollectiveCommunicator::enter() noexcept {
  if (state_ == State::ready) return ranks_.get();
  if (state_ == State::left_out || calls_++ < settings().coll_after) return nullptr;
  state_ = State::left_out;
  prepare();
  return ranks_.get();
}

void CollectiveCommunicator::prepare() {
  // A process that uses a device may give its memory: all of its ranks leave such calls alone.
  Error refused;
  static_cast<void>(device::find(this));
  if (device::is_driver_known()) refused = {ErrorClass::other, 0, {}};
  const auto made = [&]() -> Result<std::unique_ptr<collective::Ranks>> {
    auto team = staying_team_of(communicator_);
    if (!team) return team.error();
    if (team.value() == nullptr) return std::unique_ptr<collective::Ranks>();
    return collective::Ranks::create(std::move(team.value()), library_behind(), refused);
  };
  static_cast<void>(attempt([&]() -> Error {
    auto ranks = made();
    if (!ranks) return ranks.error();
    ranks_ = std::move(ranks.value());
    if (ranks_ != nullptr) state_ = State::ready;
    return {};
  }));
}

void CollectiveCommunicator::show(collective::Operation operation, std::size_t bytes,
                                  std::string_view algorithm, const char* reason) {
  if (rank_ != 0) return;
  // A size is shown as the power of 2 that it reaches.
  const std::size_t shown = bytes == 0 ? 0 : std::bit_floor(bytes);
  std::string text = std::string(name_of(operation)) + " on " + std::to_string(size_) + " ranks";
  if (operation != collective::Operation::barrier) text += ", from " + size_text(shown);
  text += algorithm.empty() ? ": by the MPI library" : ": by " + std::string(algorithm);
  if (algorithm.empty()) text += std::string(" (") + reason + ")";
  if (std::ranges::find(shown_, text) != shown_.end()) return;
  print_message(text);
  shown_.push_back(std::move(text));
}

bool start_collective_communicators() {
  if (keyval_of_communicators() == MPI_KEYVAL_INVALID) return false;
  is_running.store(true, std::memory_order_release);
  return true;
}

void stop_collective_communicators() {
  is_running.store(false, std::memory_order_release);
}

}  // namespace headrace::HEADRACE_FLAVOUR
