#include "abi/flavour/collective_communicator.h"

#include <optional>
#include <string_view>
#include <utility>

#include "abi/flavour/communicator_team.h"
#include "abi/flavour/job.h"
#include "abi/flavour/kept_with_communicator.h"
#include "abi/flavour/library_version.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/small_file.h"
#include "base/spelling.h"
#include "collective/use_table.h"
#include "device/detection.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// What MPI says of a communicator.
template <class Function>
int of(MPI_Comm communicator, Function function, int otherwise) {
  int value = otherwise;
  return function(communicator, &value) == MPI_SUCCESS ? value : otherwise;
}

collective::Library find_library() {
#ifdef HEADRACE_FLAVOUR_OPENMPI
  return collective::Library::openmpi;
#else
  const std::string_view version = library_version();
  if (version.find("Intel") != std::string_view::npos) return collective::Library::intel;
  return version.find("MPICH") != std::string_view::npos ? collective::Library::mpich
                                                         : collective::Library::other;
#endif
}

/// The user's table; null without one. What is wrong with it is told by rank 0 of the job.
const collective::UseTable* users_table() {
  static const collective::UseTable* const table = []() -> const collective::UseTable* {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20;
    const std::string& name = settings().coll_table;
    if (name.empty()) return nullptr;
    const std::string text = read_small_file(name.c_str(), kMostBytes);
    auto* const read = new collective::UseTable(collective::read_use_table(text));
    if (text.empty()) read->problems.emplace_back("nothing can be read there, name another file");
    if (rank_in_job() != 0) return read;
    for (const std::string& problem : read->problems) {
      print_message("HEADRACE_COLL_TABLE='" + printable(name) + "': " + problem);
    }
    return read;
  }();
  return table;
}

/// Where calls are carried out; none where the user wants us to carry out all we can.
std::optional<collective::Measured> what_was_measured() {
  if (settings().coll_use == CollectiveUseSetting::always) return std::nullopt;
  static const collective::Library library = find_library();
  collective::Measured measured;
  measured.library = library;
  if (users_table() != nullptr) measured.uses = users_table()->uses;
  return measured;
}

}  // namespace

CollectiveCommunicator::CollectiveCommunicator(MPI_Comm communicator)
    : communicator_(communicator),
      rank_(of(communicator, native.Comm_rank, 0)),
      size_(of(communicator, native.Comm_size, 1)),
      log_(size_, settings().coll_display && rank_ == 0 && size_ > 1) {
  const bool is_inter = of(communicator, native.Comm_test_inter, 0) != 0;
  if (!is_inter && size_ > 1) return;
  state_ = State::left_out;
  left_out_ = is_inter ? "an intercommunicator" : "there is one rank";
}

CollectiveCommunicator* CollectiveCommunicator::find(MPI_Comm communicator) noexcept {
  return KeptWithCommunicator<CollectiveCommunicator>::find(communicator);
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
  std::optional<collective::Measured> measured;
  const Error lacking = attempt([&]() -> Error {
    measured = what_was_measured();
    return {};
  });
  if (lacking) refused = lacking;
  const auto made = [&]() -> Result<std::unique_ptr<collective::Ranks>> {
    auto team = staying_team_of(communicator_);
    if (!team) return team.error();
    if (team.value() == nullptr) return std::unique_ptr<collective::Ranks>();
    return collective::Ranks::create(std::move(team.value()), measured, refused);
  };
  static_cast<void>(attempt([&]() -> Error {
    auto ranks = made();
    if (!ranks) {
      left_out_ = device::is_driver_known() ? "the process uses a device" : ranks.error().message;
      return {};
    }
    ranks_ = std::move(ranks.value());
    if (ranks_ != nullptr) state_ = State::ready;
    if (ranks_ == nullptr) left_out_ = "ranks outside MPI_COMM_WORLD, or too many communicators";
    return {};
  }));
}

const char* CollectiveCommunicator::reason() const {
  if (state_ == State::counting) return "the communicator's first calls";
  return left_out_.empty() ? "the communicator could not be prepared" : left_out_.c_str();
}

bool start_collective_communicators() {
  return KeptWithCommunicator<CollectiveCommunicator>::start();
}

void stop_collective_communicators() {
  KeptWithCommunicator<CollectiveCommunicator>::stop();
}

}  // namespace headrace::HEADRACE_FLAVOUR
