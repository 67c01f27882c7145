#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "abi/flavour/native.h"
#include "collective/choice_log.h"
#include "collective/ranks.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A communicator as one on which collective operations are called; an attribute of it.
class CollectiveCommunicator {
 public:
  explicit CollectiveCommunicator(MPI_Comm communicator);

  /// What a communicator has; null where all is left to the library, before and after the feature
  /// and by sessions alone; or where this rank lacks memory for it.
  static CollectiveCommunicator* find(MPI_Comm communicator) noexcept;
  /// Behind a find() that gave null: whether memory lacked. Then the call is not counted, while it
  /// is on other ranks.
  static bool has_lacked() noexcept;

  /// For each call of an operation that we may carry out, the same on all ranks. Prepares, together
  /// with the others, once there were enough. Null where the library is to carry the call out.
  collective::Ranks* enter() noexcept;

  /// Why enter() gives null, and whether it always will.
  const char* reason() const;
  bool is_left_out() const { return state_ == State::left_out; }

  MPI_Comm handle() const { return communicator_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// What is told of its calls.
  collective::ChoiceLog& log() { return log_; }

 private:
  enum class State { counting, ready, left_out };

  void prepare();

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 1;
  State state_ = State::counting;
  std::int64_t calls_ = 0;
  std::unique_ptr<collective::Ranks> ranks_;
  std::string left_out_;  ///< why
  collective::ChoiceLog log_;
};

/// Once, when MPI runs. False where MPI refuses.
bool start_collective_communicators();
/// Before MPI ends: from now on all is left to the library.
void stop_collective_communicators();

}  // namespace headrace::HEADRACE_FLAVOUR
