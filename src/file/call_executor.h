#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "device/detection.h"
#include "file/atomic_transfer.h"
#include "file/collective_transfer.h"
#include "file/failure_ledger.h"
#include "file/prepared_call.h"
#include "file/recorded_file.h"
#include "file/verification.h"
#include "record/summary.h"

namespace headrace::file {

/// Bytes that each rank may take for one private purpose: all ranks together get an eighth of the
/// node's memory.
ByteCount own_share_of(int node_size);

/// Executes the prepared calls of one open file and counts what they did. CollectiveTransfer and
/// direct_transfer() move the bytes.
class CallExecutor {
 public:
  /// All arguments must outlive it. `unbuffered`: the store below the buffers of `store`, or
  /// `store`. `verifies`: collective writes are read back.
  CallExecutor(exchange::FileChannel& channel, storage::Store& store, storage::Store& unbuffered,
               const std::string& path, FailureLedger& failures, RecordedFile& recorded,
               bool verifies);

  CollectiveTransfer& collective() { return collective_; }
  const CollectiveTransfer& collective() const { return collective_; }
  bool verifies() const { return verification_ != nullptr; }
  /// Null if nothing is verified.
  Verification* verification() { return verification_.get(); }
  void stop_verifying() { verification_.reset(); }
  /// Collective: what verification found and cost on all ranks; nothing if nothing is verified.
  /// Takes no memory, since all ranks wait for each other.
  std::optional<record::Verified> collect_verified();

  ByteCount own_share() const { return own_share_; }
  /// Bytes of a call in parts that may be in memory at a time.
  ByteCount part_size() const;

  /// If a call's data lies in a device's memory, makes the Staging that moves it.
  Error stage_device_data(const TransferCall& call,
                          std::unique_ptr<device::Staging>& staging) const;
  /// The access of a rank that takes part without data. Takes no memory.
  Access no_access(Direction direction) const;

  /// Moves the data of a call and counts it. `waiter` says how to wait for other ranks.
  Outcome execute(PreparedCall& prepared, const fabric::Waiter& waiter);
  /// Takes part in a call without data, since the other ranks wait for this one. Takes no memory.
  void execute_without_data(PreparedCall& prepared, const fabric::Waiter& waiter);
  /// Moves one stretch of a device's memory from or to one stretch of the file.
  Outcome execute_device_stretch(const StretchCall& call, FileOffset begin,
                                 const device::Place& place);

  /// Empties the buffers of the store, if it has any. A write that they lose counts as one of this
  /// rank's that failed, so that the others learn of it, too.
  Error settle();
  /// Adds to the counts of bytes.
  void count(Direction direction, policy::Path path, ByteCount bytes);
  /// The totals of this rank. Call when no call is under way.
  const record::FileTotals& totals() const { return totals_; }

 private:
  Outcome execute_once(PreparedCall& prepared, const fabric::Waiter& waiter);
  Outcome execute_verified(PreparedCall& prepared, const fabric::Waiter& waiter);
  Outcome execute_parts(PreparedCall& prepared, const fabric::Waiter& waiter);
  Outcome move_parts(PreparedCall& prepared, Parts* parts, std::int64_t calls,
                     const fabric::Waiter& waiter);
  Outcome move_parts_alone(PreparedCall& prepared, Parts* parts, std::int64_t calls,
                           const fabric::Waiter& waiter);
  ByteCount set_next_part(PreparedCall& prepared, Parts& parts, ByteCount before, Error& failed);
  Result<std::int64_t> most_calls(std::int64_t mine, const PreparedCall& prepared,
                                  const fabric::Waiter& waiter);
  void drop_data(PreparedCall& prepared) const;
  CollectiveTransfer::Moved move(PreparedCall& prepared, const fabric::Waiter& waiter,
                                 const MovedUnderLock& on_moved = {});
  Transferred move_alone(PreparedCall& prepared);
  CollectiveTransfer::Moved meet(PreparedCall& prepared, const fabric::Waiter& waiter);
  template <class Action>
  void between_settlings(PreparedCall& prepared, Action action);
  Error end_staging(device::Staging* staging, Direction direction, Transferred& moved);
  Error device_error(Direction direction, const Error& failure) const;
  Outcome finish(const TransferCall& call, ByteCount reachable,
                 const CollectiveTransfer::Moved& moved, const Error* wrong = nullptr);

  exchange::FileChannel& channel_;
  storage::Store& store_;
  storage::Store& unbuffered_;  ///< for what other ranks have a part in
  const std::string& path_;
  FailureLedger& failures_;
  RecordedFile& recorded_;
  const view::TypePtr byte_ = view::make_basic(1);
  const ByteCount own_share_;
  CollectiveTransfer collective_;
  std::unique_ptr<Verification> verification_;          ///< null if nothing is verified
  std::atomic<std::int64_t> transfer_nanoseconds_ = 0;  ///< counted only if something is verified
  std::atomic<ByteCount> independently_written_ = 0;    ///< counted only if something is verified
  record::FileTotals totals_;  ///< of this rank; its byte counts are added atomically
};

inline void CallExecutor::count(Direction direction, policy::Path path, ByteCount bytes) {
  const bool staged = path != policy::Path::direct;
  ByteCount& total = direction == Direction::write
                         ? (staged ? totals_.written_staged : totals_.written_directly)
                         : (staged ? totals_.read_staged : totals_.read_directly);
  std::atomic_ref(total).fetch_add(bytes, std::memory_order_relaxed);
  recorded_.note_moved(direction, bytes);
}

}  // namespace headrace::file
