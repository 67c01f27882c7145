#pragma once

#include <cstdint>
#include <memory>

#include "abi/flavour/recorded_call.h"

/// Requests whose bytes are known later than the call that made them: receives when they are
/// complete, persistent ones when they are started.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// Without initial values: arrays of it are left as they are until they are used.
struct TrackedRequest {
  record::ThreadRecord* thread;  ///< which alone writes its row
  record::Row* row;              ///< to which the bytes count
  record::CallClass call_class;
  bool receives;
  bool is_binned;  ///< by what it sends
  bool is_persistent;
  bool is_active;
  std::int64_t bytes;        ///< that each start sends
  std::int64_t to;           ///< in MPI_COMM_WORLD, or kNobody
  record::FileCounts* file;  ///< from which it reads, if the library moves its bytes
};

/// Remembers it until it is complete, or freed. Nothing where there is no memory.
void track(MPI_Request request, const TrackedRequest& tracked) noexcept;

/// The program frees it: what it receives will not be known.
void untrack(MPI_Request request) noexcept;

/// `call` has started it: what it sends counts as the call's, and what it receives will.
void count_start(MPI_Request request, Call& call) noexcept;

/// The program hands MPI an error handler: errors may come back to it.
void note_error_handler(MPI_Errhandler handler) noexcept;

/// The requests of one call that may complete them, from before the library is called: it takes the
/// handles away. Where threads call MPI at once, what is tracked is taken away before the call,
/// too, since another thread may be given the handle before the call returns. What has not been
/// completed is tracked again at the end.
class Completion {
 public:
  /// `is_array`: `statuses` are as many as requests; else one.
  Completion(const MPI_Request* requests, int count, MPI_Status* statuses, bool is_array) noexcept;
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  /// For MPI_Waitall. Libraries complete other requests after an error if they are given statuses
  /// that the program did not give. So where errors may come back to the program, the library gets
  /// what the program gave, and is asked before by `get_status` (MPI_Request_get_status).
  void keep_errors(void* get_status) noexcept;

  /// What the library is to fill: the program's statuses, or ours where it gave none and bytes are
  /// to be known.
  abi::Word statuses() const { return reinterpret_cast<abi::Word>(given_); }

  /// The request at this place, or none (MPI_UNDEFINED), is complete.
  void finish_one(int index) noexcept;
  void finish_all() noexcept;
  /// `count` requests, at these places, with the first statuses.
  void finish_some(int count, const int* indices) noexcept;
  /// The call has failed; some of its requests may be complete.
  void finish_failed() noexcept;

 private:
  bool is_gone(std::size_t index) const {
    return requests_[index] != MPI_REQUEST_NULL && program_[index] == MPI_REQUEST_NULL;
  }
  void take_all() noexcept;
  void finish(std::size_t index, const MPI_Status& status) noexcept;
  void drop(std::size_t index) noexcept;
  bool take(std::size_t index, TrackedRequest& taken) noexcept;
  bool ask(void* get_status, std::size_t index) noexcept;

  static constexpr std::size_t kFew = 8;

  MPI_Request few_requests_[kFew];
  MPI_Status few_statuses_[kFew];
  TrackedRequest few_taken_[kFew];
  std::unique_ptr<MPI_Request[]> many_requests_;
  std::unique_ptr<MPI_Status[]> many_statuses_;
  std::unique_ptr<TrackedRequest[]> many_taken_;
  const MPI_Request* program_;
  std::size_t length_ = 0;  ///< 0 where none is tracked
  MPI_Request* requests_ = few_requests_;
  MPI_Status* statuses_;  ///< what finished requests are looked up in
  MPI_Status* given_;     ///< what the library gets: others where errors may come back
  TrackedRequest* taken_ =
      nullptr;  ///< row: null where there is none; null where threads don't meet
  bool is_ignored_ = false;
};

}  // namespace headrace::HEADRACE_FLAVOUR::recording
