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
/// Who reads: the next rank of the node, which sees the same cache, so that nothing needs to be
/// synced. Where some rank is alone on its node, blocking calls are checked by the next rank of the
/// communicator: the writer syncs the file, the reader opens it anew, which is what network file
/// systems ask for. Calls that go on by themselves cannot send messages: there who is alone on its
/// node reads its own bytes.
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
  /// Null where there is no way to check a call.
  std::unique_ptr<exchange::Ring> ring_for(bool by_messages, const exchange::Waiter& waiter);
  Error compare(exchange::Ring& ring, storage::Store& reader, WrittenClaims& claims);
  Error settle_contested(exchange::Ring& ring, const Access& access, WrittenClaims& claims);
  Found judge(WrittenClaims& claims, ByteCount written);

  exchange::Channel& channel_;
  storage::Store& store_;
  std::string path_;
  std::unique_ptr<storage::Store> reader_;  ///< null: store_ reads
  std::optional<exchange::SlotMemory> boxes_;
  bool can_read_ = true;            ///< all ranks can
  bool has_boxes_ = true;           ///< all nodes with several ranks have
  bool somebody_is_alone_ = false;  ///< on a node, and not in the communicator
  record::Verified totals_;
  std::string reason_;
};

}  // namespace headrace::engine
