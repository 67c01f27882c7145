#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "abi/flavour.h"
#include "abi/flavour/native.h"
#include "abi/flavour/recorded_communicator.h"
#include "abi/flavour/recorded_file.h"
#include "abi/words.h"
#include "record/clock.h"
#include "record/recorder.h"

/// Where the return address of the function lies that has this in it, and which the program called.
#define HEADRACE_RETURN_SLOT (static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1)

namespace headrace::HEADRACE_FLAVOUR {

/// By entry; generated.
extern const record::Procedure recorded_procedures[abi::kEntryCount];

}  // namespace headrace::HEADRACE_FLAVOUR

namespace headrace::HEADRACE_FLAVOUR::recording {

/// A request whose bytes are known later than the call that made it: a receive when it is complete,
/// a persistent one when it is started. Others are tracked where they can be taken for one.
struct TrackedRequest {
  record::ThreadRecord* thread;  ///< which alone writes its row
  record::Row* row;              ///< to which the bytes count
  record::CallClass call_class;
  Errors errors;  ///< of its communicator
  bool receives;
  bool is_binned;  ///< by what it sends
  bool is_persistent;
  bool is_active;
  std::int64_t bytes;          ///< that each start sends
  std::int64_t to;             ///< in MPI_COMM_WORLD, or kNobody
  std::uint64_t communicator;  ///< of record::CommunicatorIds; 0 if its messages are not followed
  int tag;                     ///< of what it sends, or wants to receive
  int from;                    ///< the rank that it wants to receive from
  std::int64_t posted;         ///< when the receive was, in ticks
  std::uint64_t number;        ///< of the receive, in record::MessageWaits; 0: it has none
  record::FileCounts* file;    ///< from which it reads, if the library moves its bytes
};

/// A call that has ended, as it was recorded. Times in ticks.
struct Measured {
  record::ThreadRecord* thread;
  record::Row* row;
  std::int64_t begin;
  std::int64_t end;
  std::uint64_t communicator;  ///< of record::CommunicatorIds; 0: none, or it has none
  record::Row* barrier;  ///< of the barrier before it (HEADRACE_COLL_SYNC); null if there was none
  std::int64_t barrier_begin;
};

/// No tag of a message: they are not negative, but for MPI_ANY_TAG.
inline constexpr int kNoTag = INT_MIN;

/// One call of the program's, from before the library is called to after it.
class Call {
 public:
  Call(abi::Entry entry, const std::uintptr_t* return_slot) noexcept;

  /// False where the library itself calls, or nothing is recorded.
  bool is_recorded() const { return thread_ != nullptr; }

  /// The call is on this file.
  void on_file(MPI_File file) noexcept {
    if (has_noted_files.load(std::memory_order_relaxed)) [[unlikely]]
      set_file(find_noted_file(file));
  }

  /// The library has returned `code`. Returns whether that is success: only then may it be asked
  /// about the call's arguments.
  bool end(abi::Word code) noexcept;
  bool end(abi::Word code, MPI_Comm communicator) noexcept;
  /// The same of a call that may not be recorded.
  bool end_any(abi::Word code) noexcept {
    return is_recorded() ? end(code) : static_cast<int>(code) == MPI_SUCCESS;
  }
  /// Of procedures that return no code.
  void end() noexcept { static_cast<void>(end(MPI_SUCCESS)); }

  /// What the call has sent.
  void send(std::int64_t bytes) noexcept;
  void send(std::int64_t bytes, int to, MPI_Comm communicator) noexcept;
  /// What has arrived by it.
  void receive(std::int64_t bytes) noexcept;
  void receive(const MPI_Status& status) noexcept;
  void receive(const MPI_Status& status, MPI_Comm communicator) noexcept;
  /// What arrives by it is known when the request is complete.
  void await(MPI_Request request) noexcept;
  /// The same of a message.
  void await(MPI_Request request, int from, int tag) noexcept;
  /// The call has begun what sends, or another operation, by a request.
  void follow(MPI_Request request) noexcept;
  /// The request can be started often; each time it sends so much to a rank of MPI_COMM_WORLD, or
  /// kNobody. `from`, `tag`: of its messages; kNoTag if these are not to be followed.
  void keep(MPI_Request request, std::int64_t bytes, std::int64_t to, int from, int tag,
            bool receives) noexcept;

  /// The call that has ended has opened it.
  void has_opened(MPI_File file, const char* name) noexcept;

  Measured measured() const noexcept {
    return {thread_, row_, begin_, end_, communicator_, barrier_, barrier_begin_};
  }
  record::CallClass call_class() const { return recorded_procedures[entry_].call_class; }

 private:
  void set_file(const NotedFile& file) noexcept {
    file_ = file.counts;
    file_name_ = file.name;
  }
  bool finish(std::int64_t end, bool has_failed, std::uint32_t shape) noexcept;
  void finish_event(std::int64_t end, std::uint32_t shape) noexcept;
  void add_event(std::uint32_t procedure, std::int64_t end, std::uint32_t shape) noexcept;
  TrackedRequest tracked() const noexcept;

  record::ThreadRecord* thread_;
  record::PathEnd* path_ = nullptr;
  record::Row* row_ = nullptr;
  record::Row* barrier_ = nullptr;
  std::int64_t barrier_begin_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::uint64_t communicator_ = 0;
  record::OpenCall::Outer outer_;
  int entry_;
  std::uint32_t note_ = record::kNone;  ///< of its procedure
  bool is_binned_ = false;
  Errors errors_ = Errors::end_the_job;
  record::FileCounts* file_ = nullptr;  ///< if the library moves its bytes
  std::int32_t file_name_ = record::kNoPeer;
  record::Event* event_ = nullptr;  ///< if events are kept, from the call's end on
};

/// Counts a call whose time is not taken, since that would take longer than the call. Returns
/// whether it is the program's.
bool count_call(abi::Entry entry, const std::uintptr_t* return_slot) noexcept;
/// The same of one behind which none is recorded: it goes on until call_has_returned().
void begin_last_call(abi::Entry entry, const std::uintptr_t* return_slot) noexcept;
void call_has_returned() noexcept;

/// The status of a call that receives: the program's, or one of ours where it gave none.
class OwnStatus {
 public:
  explicit OwnStatus(abi::Word& status) {
    if (reinterpret_cast<MPI_Status*>(status) == MPI_STATUS_IGNORE) {
      status = reinterpret_cast<abi::Word>(&own_);
    }
    used_ = reinterpret_cast<const MPI_Status*>(status);
  }
  const MPI_Status& get() const { return *used_; }

 private:
  MPI_Status own_;
  const MPI_Status* used_;
};

/// Whether the program has cancelled any request: then statuses are asked about it.
extern constinit std::atomic<bool> has_cancelled;

/// Bytes of a message; 0 where it was cancelled or the library does not know.
std::int64_t arrived(const MPI_Status& status) noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR::recording
