#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/direct_transfer.h"
#include "exchange/channel.h"
#include "exchange/ring.h"
#include "record/summary.h"

namespace headrace::engine {

class WrittenClaims;

/// Checks collective writes of one file: another rank reads back what a rank wrote and compares
/// checksums. One thread at a time, as CollectiveTransfer.
///
/// Who reads: on one node the next rank, which sees the same cache, so that nothing needs to be
/// synced. On several nodes other nodes may have written a rank's bytes, and what one node has
/// written another may see late: all sync the file, and the next rank of the communicator opens it
/// anew and reads, as network file systems ask. That takes messages, which calls that go on by
/// themselves cannot send: they are left out there.
class Verification {
 public:
  /// Collective. `store` is open; `reads`: the program opened it for reading, too.
  static Result<std::unique_ptr<Verification>> make(exchange::Channel& channel,
                                                    storage::Store& store, bool reads,
                                                    std::string path);
  ~Verification();
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  /// Bytes from the start of the data that are in the file as they should be.
  struct Found {
    ByteCount bytes = 0;
    Error error;
  };
  /// Collective: of `access` the first `written` bytes were written. Bytes that several ranks give
  /// in this call are not compared, since any of them may be there.
  Found check(const Access& access, ByteCount written, bool in_background,
              const exchange::Waiter& waiter);
  /// A collective write that is not checked, and why.
  void leave_out(const std::string& reason);

  /// Of this rank.
  const record::Verified& totals() const { return totals_; }
  const std::string& reason_left_out() const { return reason_; }

 private:
  Verification(exchange::Channel& channel, storage::Store& store, std::string path)
      : channel_(channel), store_(store), path_(std::move(path)) {}
  Error set_up(bool reads);
  /// Takes all memory that a ring needs, before others count on this rank.
  bool prepare_rings() noexcept;
  std::unique_ptr<storage::Store> open_anew() noexcept;
  Error compare(exchange::Ring& ring, storage::Store& reader, WrittenClaims& claims);
  Error settle_contested(exchange::Ring& ring, const Access& access, WrittenClaims& claims);
  Found judge(WrittenClaims& claims, ByteCount written);

  exchange::Channel& channel_;
  storage::Store& store_;
  std::string path_;
  std::unique_ptr<storage::Store> reader_;  ///< null: store_ reads
  std::optional<exchange::SlotMemory> boxes_;
  bool can_read_ = true;                       ///< all ranks can
  bool has_boxes_ = true;                      ///< the ranks of a node can tell each other pieces
  std::unique_ptr<exchange::Ring> near_ring_;  ///< of the node, or of this rank alone
  std::unique_ptr<exchange::Ring> message_ring_;
  exchange::Ring::Message claim_;  ///< of the rank before
  exchange::Ring::Message verdict_;
  record::Verified totals_;
  std::string reason_;
};

}  // namespace headrace::engine
