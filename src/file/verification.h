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
/// checksums. One thread at a time, as with CollectiveTransfer.
///
/// Which rank reads: on one node, the next rank, which sees the same cache, so that no sync is
/// needed. On several nodes, other nodes may have written a rank's bytes, and a node may see
/// another's writes late. So all ranks sync the file, and the next rank of the communicator opens
/// it again and reads, as network file systems require. That takes messages, which background calls
/// cannot send: those are not checked there.
///
/// Calls that are not checked are counted by reason, and reported once while the job runs and at
/// its end.
class Verification {
 public:
  /// `path` must outlive it.
  Verification(exchange::FileChannel& channel, storage::Store& store, const std::string& path)
      : channel_(channel), store_(store), path_(path) {}
  ~Verification();
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  /// Collective; call it before all else. `reads`: the program opened the file for reading, too.
  /// `nodes_write_for_each_other`: other nodes may write a rank's bytes.
  Error set_up(bool reads, bool nodes_write_for_each_other);

  /// How many bytes from the start of the data are right in the file, and what is wrong with the
  /// next.
  struct Found {
    ByteCount bytes = 0;
    Error error;
  };
  /// Collective: checks the first `written` bytes of `access`. Does not compare bytes that several
  /// ranks gave in this call, since any of them may be there. Moves the cursors. A rank that lacks
  /// memory still takes part. So does a rank that reads: if other ranks write in the same call,
  /// which is an error of the program, they must not wait for it.
  Found check(Access& access, ByteCount written, bool in_background, const fabric::Waiter& waiter);
  /// Checks a call in atomic mode while its lock keeps others out: this rank reads back its own
  /// bytes, since no other rank could wait. Safe from several threads.
  Found check_alone(Access& access, ByteCount written);

  /// The totals of this rank. Call when no call is under way.
  const record::Verified& totals() const { return totals_; }

 private:
  /// What to check. `is_alone`: no other rank takes part.
  struct Check {
    Access& access;
    ByteCount written = 0;
    bool is_alone = false;
  };
  Found leave_out(record::Unverified reason, ByteCount written);
  /// Takes all memory that a ring needs, before other ranks wait for this one.
  void prepare_rings();
  struct OpenedAnew {
    std::unique_ptr<storage::Store> store;  ///< null: the file cannot be opened anew
    int system_error = 0;                   ///< why; 0: its kind does not allow it
  };
  OpenedAnew open_anew() noexcept;
  Found check_by(fabric::Ring& ring, bool opens_anew, const Check& what);
  /// The status that the ranks of a ring combine before each turn.
  struct RingStatus {
    std::int64_t has_more = 0;      ///< 1: some rank has more to tell
    std::int64_t has_suspects = 0;  ///< 1: some rank has suspects
    std::int64_t is_apart = 0;      ///< 1: some rank could not reach its neighbours
    std::int64_t failed = 0;        ///< why some rank could not sync

    void combine(const RingStatus& other) {
      fabric::keep_greatest(has_more, other.has_more);
      fabric::keep_greatest(has_suspects, other.has_suspects);
      fabric::keep_greatest(is_apart, other.is_apart);
      fabric::keep_greatest(failed, other.failed);
    }
  };
  Error compare(fabric::Ring& ring, bool opens_anew, WrittenClaims& claims, const Error& failed,
                RingStatus& all);
  /// `first`: the data position where the call's data begins.
  Error settle_contested(fabric::Ring& ring, Access& access, ByteCount first,
                         WrittenClaims& claims);
  Found judge(WrittenClaims& claims, const Check& what);
  Error mismatch(const Suspect& first, std::int64_t count, bool is_alone) const noexcept;

  exchange::FileChannel& channel_;
  storage::Store& store_;
  const std::string& path_;
  std::unique_ptr<storage::Store> reader_;  ///< null: store_ is used
  std::optional<fabric::MemoryRange> boxes_;
  bool can_read_ = true;  ///< all ranks can read the file
  bool nodes_write_for_each_other_ = false;
  bool has_boxes_ = true;  ///< the node's ranks have memory to tell each other pieces
  std::unique_ptr<fabric::Ring> near_ring_;  ///< the ring of the node, or of this rank alone
  std::unique_ptr<fabric::Ring> message_ring_;
  fabric::Ring::Message claim_;  ///< the claim of the rank before
  fabric::Ring::Message comparison_;
  std::unique_ptr<fabric::Ring> lone_ring_ = fabric::make_lone_ring();
  std::mutex
      mutex_;  ///< held by calls that check alone; guards what follows and the messages above
  record::Verified totals_;
  std::array<bool, record::kUnverifiedReasons>
      was_reported_{};  ///< each is reported once while the job runs
};

}  // namespace headrace::file
