#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "abi/flavour/native.h"
#include "base/result.h"

/// What MPI provides to every process of a job, however the program has started MPI. Between
/// MPI_Init and MPI_Finalize these are MPI_COMM_SELF and the group of MPI_COMM_WORLD. A program
/// with sessions only may not use those. Then they come from a session of ours, which lives while
/// files are open, so that nothing of ours is left when the program's last session ends.
namespace headrace::HEADRACE_FLAVOUR {

/// Whether MPI is between MPI_Init and MPI_Finalize. Intel MPI counts a session as that.
bool is_initialized();

/// Whether MPI_Finalize was called; sessions may continue.
bool has_ended();

/// Whether MPI may run with sessions only, in a library that can open files then.
bool may_run_by_sessions();

/// At the begin of MPI_Finalize: whether the program has sessions that continue. Other libraries
/// than Open MPI end MPI_COMM_SELF with the last session.
bool have_sessions_beside();

class OwnSession;

/// Keeps our session while it, or a copy, lives; null if none is needed.
using SessionHold = std::shared_ptr<const OwnSession>;
Result<SessionHold> hold_session();
/// Whether our session is held.
bool has_own_session();

extern constinit std::atomic<std::uint64_t> current_life;
/// A number that changes after MPI may have ended and begun anew, as with the last of a program's
/// sessions: keyvals and error codes of the life before are invalid then, or the program's. It
/// changes only when a session of ours begins or a file is opened.
inline std::uint64_t library_life() {
  return current_life.load(std::memory_order_acquire);
}

/// A communicator of this process alone; MPI_COMM_NULL if MPI refuses. With sessions only, it lives
/// as long as a SessionHold.
MPI_Comm self_communicator();

/// The group of the job's ranks; the caller must free it. Returns MPI's code.
int group_of_job(MPI_Group* group);

/// This process's rank in the job.
int rank_in_job();

}  // namespace headrace::HEADRACE_FLAVOUR
