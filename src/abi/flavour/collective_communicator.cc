#include "abi/flavour/collective_communicator.h"

#include <optional>
#include <utility>

#include "abi/flavour/collective_use.h"
#include "abi/flavour/communicator_team.h"
#include "abi/flavour/kept_with_communicator.h"
#include "base/settings.h"
#include "device/detection.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// What MPI says of a communicator.
template <class Function>
int of(MPI_Comm communicator, Function function, int otherwise) {
  int value = otherwise;
  return function(communicator, &value) == MPI_SUCCESS ? value : otherwise;
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

bool CollectiveCommunicator::has_lacked() noexcept {
  return KeptWithCommunicator<CollectiveCommunicator>::has_lacked();
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
