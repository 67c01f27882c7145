#pragma once

#include <cstdint>

#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

/// No rank: MPI_PROC_NULL. Ranks of other jobs are kOutside.
inline constexpr std::int64_t kNobody = -3;
inline constexpr std::int64_t kOutside = -2;

/// What becomes of errors on a communicator.
enum class Errors : std::uint8_t { end_the_job, are_returned, call_the_program };

/// A communicator of the program. `shape`: as rows name it, a note's number, or kNone.
struct CommunicatorFacts {
  std::uint32_t shape;
  Errors errors;
  std::uint64_t id;  ///< of record::CommunicatorIds; 0: it has none
};

/// To be asked at a call that has succeeded. What bounds the program's arrays is asked of MPI
/// (payload.h), not kept here.
CommunicatorFacts facts_of(MPI_Comm communicator) noexcept;

/// A call of `thread` has made a communicator, in all its members at once.
void note_made(MPI_Comm communicator, std::uint32_t thread) noexcept;

/// Where `thread` writes down when it enters its collective calls on this communicator
/// (record/collective_waits.h); below 0 if it does not.
int entry_log_of(MPI_Comm communicator, std::uint32_t thread) noexcept;
/// Ranks may have counted their calls differently: no waits are taken down from now on.
void stop_following_waits() noexcept;

/// The program has given a communicator an error handler.
void note_error_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept;

/// Whether any communicator may have had a handler that does not end the job.
bool errors_may_return() noexcept;

/// The number in MPI_COMM_WORLD of a rank that `communicator` sends to.
std::int64_t peer_in_world(int peer, MPI_Comm communicator) noexcept;

/// The program frees a communicator, from before the library is called to after it: its handle may
/// be another one's at once, and a delete function of the program may still use it.
class Forgetting {
 public:
  explicit Forgetting(MPI_Comm communicator) noexcept;
  ~Forgetting();
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;

 private:
  MPI_Comm communicator_;
};

}  // namespace headrace::HEADRACE_FLAVOUR::recording
