#pragma once

#include <cstdint>
#include <memory>

#include "abi/flavour/recorded_call.h"

/// Requests whose bytes are known later than the call that made them: receives when they are
/// complete, persistent ones when they are started.
namespace headrace::HEADRACE_FLAVOUR::recording {

struct TrackedRequest {
  record::ThreadRecord* thread = nullptr;  ///< which alone writes its row
  record::Row* row = nullptr;              ///< to which the bytes count
  record::CallClass call_class = record::CallClass::point_to_point;
  bool receives = false;
  bool is_binned = false;  ///< by what it sends
  bool is_persistent = false;
  bool is_active = false;
  std::int64_t bytes = 0;              ///< that each start sends
  std::int64_t to = kNobody;           ///< in MPI_COMM_WORLD
  record::FileCounts* file = nullptr;  ///< from which it reads, if the library moves its bytes
};

/// Remembers it until it is complete, or freed. Nothing where there is no memory.
void track(MPI_Request request, const TrackedRequest& tracked) noexcept;

/// The program frees it: what it receives will not be known.
void untrack(MPI_Request request) noexcept;

/// `call` has started it: what it sends counts as the call's, and what it receives will.
void count_start(MPI_Request request, Call& call) noexcept;

/// The requests of one call that may complete them, from before the library is called: it takes the
/// handles away.
class Completion {
 public:
  /// `is_array`: `statuses` are as many as requests; else one.
  Completion(const MPI_Request* requests, int count, MPI_Status* statuses, bool is_array) noexcept;

  /// What the library is to fill: the program's statuses, or ours where it gave none and bytes are
  /// to be known.
  abi::Word statuses() const { return reinterpret_cast<abi::Word>(statuses_); }

  /// The request at this place, or none (MPI_UNDEFINED), is complete.
  void finish_one(int index) noexcept;
  void finish_all() noexcept;
  /// `count` requests, at these places, with the first statuses.
  void finish_some(int count, const int* indices) noexcept;

 private:
  void finish(std::size_t index, const MPI_Status& status) noexcept;

  static constexpr std::size_t kFew = 8;

  MPI_Request few_requests_[kFew];
  MPI_Status few_statuses_[kFew];
  std::unique_ptr<MPI_Request[]> many_requests_;
  std::unique_ptr<MPI_Status[]> many_statuses_;
  std::size_t length_ = 0;  ///< 0 where none is tracked
  MPI_Request* requests_ = few_requests_;
  MPI_Status* statuses_;
};

}  // namespace headrace::HEADRACE_FLAVOUR::recording
