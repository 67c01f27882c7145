#include "abi/flavour/job.h"

#include <mutex>
#include <utility>

#include "abi/flavour/datatype.h"
#include "abi/flavour/error.h"

namespace headrace::HEADRACE_FLAVOUR {

constinit std::atomic<std::uint64_t> current_life = 0;

/// A session, and the communicator of this process alone that comes from it.
class OwnSession {
 public:
  static std::shared_ptr<const OwnSession> make() {
    auto made = std::make_shared<OwnSession>();
    if (native.Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made->session_) != MPI_SUCCESS) {
      return nullptr;
    }
    made->is_open_ = true;
    MPI_Group group = MPI_GROUP_NULL;
    if (native.Group_from_session_pset(made->session_, "mpi://SELF", &group) != MPI_SUCCESS) {
      return nullptr;
    }
    const int code = native.Comm_create_from_group(group, "headrace", MPI_INFO_NULL,
                                                   MPI_ERRORS_RETURN, &made->self_);
    native.Group_free(&group);
    if (code != MPI_SUCCESS) return nullptr;
    return made;
  }

  OwnSession() = default;
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;
  ~OwnSession() {
    forget_datatypes();
    if (self_ != MPI_COMM_NULL) native.Comm_free(&self_);
    if (is_open_) native.Session_finalize(&session_);
  }

  MPI_Comm self() const { return self_; }
  int group_of_job(MPI_Group* group) const {
    return native.Group_from_session_pset(session_, "mpi://WORLD", group);
  }

 private:
  static void forget_datatypes();

  MPI_Session session_{};
  bool is_open_ = false;
  MPI_Comm self_ = MPI_COMM_NULL;
};

namespace {

/// Our session, while it is held. Never destroyed: files are closed during exit, too.
struct Current {
  std::mutex mutex;
  std::weak_ptr<const OwnSession> session;
  bool had_world = false;  ///< whether MPI_Init was noticed, which keeps MPI going from then on
};

Current& current() {
  static auto& only = *new Current;
  return only;
}

SessionHold held_session() {
  Current& own = current();
  const std::lock_guard lock(own.mutex);
  return own.session.lock();
}

/// Whether MPI_Init was noticed.
bool had_world() {
  Current& own = current();
  const std::lock_guard lock(own.mutex);
  return own.had_world;
}

#ifdef HEADRACE_FLAVOUR_OPENMPI
constexpr bool kOpensFilesInSessions = true;
#else
// MPICH up to 5.0 opens no file before MPI_Init; of Intel MPI see is_initialized().
constexpr bool kOpensFilesInSessions = false;
#endif

}  // namespace

/// With sessions only, no file is open any more, and the next session has another keyval.
void OwnSession::forget_datatypes() {
  if (!had_world() && !is_initialized()) drop_decoded_types();
}

bool has_ended() {
  int flag = 0;
  return native.Finalized(&flag) != MPI_SUCCESS || flag != 0;
}

bool is_initialized() {
  int flag = 0;
  return native.Initialized(&flag) == MPI_SUCCESS && flag != 0 && !has_ended();
}

bool may_run_by_sessions() {
  return kOpensFilesInSessions && native.Session_init != nullptr &&
         native.Session_finalize != nullptr && native.Group_from_session_pset != nullptr &&
         native.Comm_create_from_group != nullptr && !has_ended();
}

bool have_sessions_beside() {
#ifdef HEADRACE_FLAVOUR_OPENMPI
  // One session is MPI_COMM_WORLD's.
  return session_count != nullptr && *session_count > 1 + (has_own_session() ? 1 : 0);
#else
  return false;
#endif
}

bool has_own_session() {
  return held_session() != nullptr;
}

Result<SessionHold> hold_session() {
  Current& own = current();
  if (is_initialized()) {
    const std::lock_guard lock(own.mutex);
    if (!std::exchange(own.had_world, true) && own.session.expired()) ++current_life;
    return SessionHold();
  }
  if (!may_run_by_sessions()) return SessionHold();
  const std::lock_guard lock(own.mutex);
  SessionHold held = own.session.lock();
  if (held == nullptr) {
    held = OwnSession::make();
    if (held == nullptr) return native_failure("begin a session");
    ++current_life;
    own.session = held;
  }
  return held;
}

MPI_Comm self_communicator() {
  if (is_initialized()) return MPI_COMM_SELF;
  const SessionHold held = held_session();
  return held == nullptr ? MPI_COMM_NULL : held->self();
}

int group_of_job(MPI_Group* group) {
  if (is_initialized()) return native.Comm_group(MPI_COMM_WORLD, group);
  const SessionHold held = held_session();
  return held == nullptr ? MPI_ERR_OTHER : held->group_of_job(group);
}

int rank_in_job() {
  int rank = 0;
  if (is_initialized()) {
    native.Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  MPI_Group job = MPI_GROUP_NULL;
  if (group_of_job(&job) != MPI_SUCCESS) return rank;
  native.Group_rank(job, &rank);
  native.Group_free(&job);
  return rank;
}

}  // namespace headrace::HEADRACE_FLAVOUR
