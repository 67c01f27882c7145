#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "abi/flavour/native.h"
#include "base/result.h"

/// What MPI gives every process of a job, however the program has started it. Between MPI_Init and
/// MPI_Finalize these are MPI_COMM_SELF and the group of MPI_COMM_WORLD. A program by sessions
/// alone may not use those: there they come from a session of ours, which lives while files are
/// open, so that nothing of ours is left when the program's last session ends.
namespace headrace::HEADRACE_FLAVOUR {

/// Whether MPI is between MPI_Init and MPI_Finalize. Intel MPI counts a session as that.
bool is_initialized();

/// Whether MPI_Finalize was called; sessions may go on.
bool has_ended();

/// Whether MPI may run by sessions alone, in a library that opens files then.
bool may_run_by_sessions();

/// Whether the program has sessions that go on after MPI_Finalize, which begins. The other
/// libraries end MPI_COMM_SELF with the last of them.
bool have_sessions_beside();

class OwnSession;

/// Keeps the session of ours for as long as it, or a copy, lives; nothing where none is needed.
using SessionHold = std::shared_ptr<const OwnSession>;
Result<SessionHold> hold_session();
/// Whether it is held.
bool has_own_session();

extern constinit std::atomic<std::uint64_t> current_life;
/// A number that is another one after MPI may have ended and begun anew, as with the last of a
/// program's sessions: what the library made before (keyvals, codes of errors) is nothing by then,
/// or the program's. It changes only when a session of ours begins or a file is opened.
inline std::uint64_t library_life() {
  return current_life.load(std::memory_order_acquire);
}

/// A communicator of this process alone; MPI_COMM_NULL where MPI refuses. By sessions it lives as
/// long as a hold.
MPI_Comm self_communicator();

/// The job's ranks, to be freed by the caller. Returns MPI's code.
int group_of_job(MPI_Group* group);

/// This process's rank in the job.
int rank_in_job();

}  // namespace headrace::HEADRACE_FLAVOUR
