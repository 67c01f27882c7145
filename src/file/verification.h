#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "exchange/file_channel.h"
#include "fabric/ring.h"
#include "file/direct_transfer.h"
#include "record/summary.h"

namespace headrace::file {

class WrittenClaims;
struct Suspect;

/// Checks collective writes of one file: another rank reads back what a rank wrote and compares
/// checksums. One thread at a time, as CollectiveTransfer.
///
/// Who reads: on one node the next rank, which sees the same cache, so that nothing needs to be
/// synced. On several nodes other nodes may have written a rank's bytes, and what one node has
/// written another may see late: all sync the file, and the next rank of the communicator opens it
/// anew and reads, as network file systems ask. That takes messages, which calls that go on by
/// themselves cannot send: they are left out there.
///
/// What is left out is counted by its reason, told once while the job runs, and at its end.
class Verification {
 public:
  /// `path` must outlive it.
  Verification(exchange::FileChannel& channel, storage::Store& store, const std::string& path)
      : channel_(channel), store_(store), path_(path) {}
  ~Verification();
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  /// Collective, before all else. `reads`: the program opened the file for reading, too.
  /// `nodes_write_for_each_other`: a rank's bytes may be written by other nodes.
  Error set_up(bool reads, bool nodes_write_for_each_other);

  /// Bytes from the start of the data that are in the file as they should be.
  struct Found {
    ByteCount bytes = 0;
    Error error;
  };
  /// Collective: of `access` the first `written` bytes were written. Bytes that several ranks give
  /// in this call are not compared, since any of them may be there. Moves the cursors; a rank that
  /// lacks memory takes part all the same, and so does one that reads: where other ranks write in
  /// this call, which is an error of the program, nobody must wait for what it does not do.
  Found check(Access& access, ByteCount written, bool in_background, const fabric::Waiter& waiter);
  /// Of a call in atomic mode, while its lock keeps others from what it wrote: this rank itself
  /// reads it back, since another one could not wait for it. From any thread, also several.
  Found check_alone(Access& access, ByteCount written);

  /// Of this rank; when no call goes on.
  const record::Verified& totals() const { return totals_; }

 private:
  /// Where `is_alone` all is this rank's own affair.
  struct Check {
    Access& access;
    ByteCount written = 0;
    bool is_alone = false;
  };
  Found leave_out(record::Unverified reason, ByteCount written, bool is_alone = false);
  /// Takes all memory that a ring needs, before others count on this rank.
  void prepare_rings();
  std::unique_ptr<storage::Store> open_anew() noexcept;
  Found check_by(fabric::Ring& ring, bool opens_anew, const Check& what);
  /// What all ranks of a ring say of themselves before each turn.
  struct RingStatus {
    std::int64_t has_more = 0;      ///< 1: one has
    std::int64_t has_suspects = 0;  ///< 1: one has
    std::int64_t is_apart = 0;      ///< 1: one could not reach its neighbours
    std::int64_t failed = 0;        ///< why one could not sync

    void combine(const RingStatus& other) {
      fabric::keep_greatest(has_more, other.has_more);
      fabric::keep_greatest(has_suspects, other.has_suspects);
      fabric::keep_greatest(is_apart, other.is_apart);
      fabric::keep_greatest(failed, other.failed);
    }
  };
  Error compare(fabric::Ring& ring, bool opens_anew, WrittenClaims& claims, const Error& failed,
                RingStatus& all);
  /// `first`: where the call's data begins.
  Error settle_contested(fabric::Ring& ring, Access& access, ByteCount first,
                         WrittenClaims& claims);
  Found judge(WrittenClaims& claims, const Check& what);
  Error mismatch(const Suspect& first, std::int64_t count, bool is_alone) const noexcept;

  exchange::FileChannel& channel_;
  storage::Store& store_;
  const std::string& path_;
  std::unique_ptr<storage::Store> reader_;  ///< null: store_ reads
  std::optional<fabric::MemoryRange> boxes_;
  bool can_read_ = true;  ///< all ranks can
  bool nodes_write_for_each_other_ = false;
  bool has_boxes_ = true;                    ///< the ranks of a node can tell each other pieces
  std::unique_ptr<fabric::Ring> near_ring_;  ///< of the node, or of this rank alone
  std::unique_ptr<fabric::Ring> message_ring_;
  fabric::Ring::Message claim_;  ///< of the rank before
  fabric::Ring::Message comparison_;
  std::unique_ptr<fabric::Ring> lone_ring_ = fabric::make_lone_ring();
  std::mutex mutex_;  ///< of calls that check alone, on what follows and the messages above
  record::Verified totals_;
  std::array<bool, record::kUnverifiedReasons> was_reported_{};  ///< while the job runs, once each
};

}  // namespace headrace::file
