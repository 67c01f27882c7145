#pragma once

#include <cstdint>
#include <memory>

#include "abi/flavour/recorded_call.h"

/// Requests whose bytes are known later than the call that made them.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// Remembers it until it is complete, or freed. Nothing where there is no memory.
void track(MPI_Request request, const TrackedRequest& tracked) noexcept;

/// The program frees it: what it receives will not be known.
void untrack(MPI_Request request) noexcept;

/// `call` has started it: what it sends counts as the call's, and what it receives will.
void count_start(MPI_Request request, Call& call) noexcept;

/// Whether several threads may be in MPI at once.
bool threads_meet() noexcept;

/// The requests of one call that may complete them, from before the library is called: it takes the
/// handles away.
class Completion {
 public:
  /// `is_array`: `statuses` are as many as requests; else one.
  Completion(const MPI_Request* requests, int count, MPI_Status* statuses, bool is_array) noexcept;
  ~Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  /// For MPI_Waitall. Libraries complete other requests after an error if they are given statuses
  /// that the program did not give. So where errors may come back to the program, the library gets
  /// what the program gave, and is asked before by `get_status` (MPI_Request_get_status).
  ///
  /// It is asked until all receives are complete or one request has failed: what the library waits
  /// for, too. But if there are requests that only the library's own wait may bring on, it is asked
  /// for kAskedFor at most. What is still unknown then is counted as such.
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
  /// What asking about a request came to.
  enum class Answer : std::uint8_t { pending, complete, failed };

  bool is_gone(std::size_t index) const {
    return requests_[index] != MPI_REQUEST_NULL && program_[index] == MPI_REQUEST_NULL;
  }
  bool find(std::size_t index, TrackedRequest& found) const noexcept;
  bool take(std::size_t index, TrackedRequest& taken) noexcept;
  void finish(std::size_t index, const MPI_Status& status) noexcept;
  void drop(std::size_t index) noexcept;
  Answer ask(void* get_status, std::size_t index) noexcept;
  bool ask_all(void* get_status, bool& is_pending) noexcept;
  bool has_untracked_requests(bool& has_handlers) const noexcept;

  static constexpr std::size_t kFew = 8;

  MPI_Request few_requests_[kFew];
  MPI_Status few_statuses_[kFew];
  std::unique_ptr<MPI_Request[]> many_requests_;
  std::unique_ptr<MPI_Status[]> many_statuses_;
  const MPI_Request* program_;
  std::uint64_t serial_ = 0;  ///< the last one before the library is called
  std::size_t length_ = 0;    ///< 0 where none is tracked
  MPI_Request* requests_ = few_requests_;
  MPI_Status* statuses_;  ///< what finished requests are looked up in
  MPI_Status* given_;     ///< what the library gets: others where errors may come back
  bool is_ignored_ = false;
};

}  // namespace headrace::HEADRACE_FLAVOUR::recording
