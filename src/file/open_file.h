#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "device/detection.h"
#include "device/staging.h"
#include "file/atomic_transfer.h"
#include "file/background.h"
#include "file/collective_transfer.h"
#include "file/failure_ledger.h"
#include "file/file.h"
#include "file/file_hints.h"
#include "file/file_pointer.h"
#include "file/shared_position.h"
#include "file/split_call.h"
#include "file/verification.h"
#include "file/work_queue.h"
#include "record/summary.h"

namespace headrace::file {

/// The file of file/file.h: state, views and pointers. How bytes go is CollectiveTransfer's and
/// direct_transfer's business.
class OpenFile : public File {
 public:
  OpenFile(std::shared_ptr<exchange::FileTeam> team, storage::FileSystem& file_system,
           const std::string& path, AccessMode mode);
  ~OpenFile() override;

  /// Collective: opens the store on all ranks, which have agreed on the mode and on whether they
  /// may verify, and agrees on hints. The only use of the name that the program gave.
  Error open(std::unique_ptr<exchange::FileChannel> channel, std::string_view path,
             const Hints& hints, bool may_verify);

  Error close() override;
  Error sync() override;
  Result<ByteCount> size() override;
  Error resize(ByteCount size) override;
  Error allocate(ByteCount size) override;

  Error set_view(Result<View> view, const Hints& hints) override;
  View current_view() const override;
  Error set_hints(const Hints& hints, const Error& refused) override;
  Hints hints() const override;

  Error seek(std::int64_t offset, Whence whence) override;
  std::int64_t position() const override;
  Result<FileOffset> byte_offset(std::int64_t offset) const override;

  Error seek_shared(std::int64_t offset, Whence whence) override;
  Result<std::int64_t> shared_position() override;
  Error set_atomicity(bool atomic) override;
  bool atomicity() const override { return is_atomic_; }

  std::optional<Outcome> transfer_stretch(const StretchCall& call) override;
  Outcome transfer(const TransferCall& call) override;
  ByteCount part_size() const override;
  Result<std::shared_ptr<Operation>> start(const TransferCall& call) override;
  Error begin(const TransferCall& call) override;
  Outcome end(Direction direction, bool shared, bool has_offset) override;

  const AccessMode& access_mode() const override { return mode_; }
  const std::string& path() const override { return path_; }

 private:
  std::int64_t file_number() const { return store_ != nullptr ? store_->file_number() : 0; }
  /// Whether data goes as if alone, and whether what keeps the others away is taken already.
  enum class Locking : std::uint8_t { none, to_take, held };

  /// A call that was checked and has its place in the file: what is left to do depends on nothing
  /// that other calls change.
  struct Prepared {
    TransferCall call;  ///< moves nothing where it failed
    std::shared_ptr<const View> view;
    std::int64_t position = 0;  ///< in etypes
    Access access;
    ByteCount sieve_size = 0;
    bool meets = false;  ///< the ranks of the node meet
    Locking locking = Locking::none;
    bool verifies = false;     ///< it is read back: by the ranks of the file, or under its lock
    bool joins_check = false;  ///< the ranks of the file look at it, or would if it wrote
    /// What is read back: `access` once more, since the transfer moves that one's cursors. Null
    /// where there is no data.
    std::unique_ptr<Access> written;
    std::unique_ptr<device::Staging> staging;  ///< where the data lies in a device's memory
    bool in_background = false;
    PointerMove move;
    Error failed;

    /// All ranks carry such calls out in the order in which they were made.
    bool keeps_order() const { return meets || joins_check; }
  };

  class BackgroundCall;

  ByteCount find_own_share() const;
  Error open_store(std::string_view path);
  Error find_end();
  void tell_corrections(const Agreement& agreement);
  Error change_size(ByteCount size, Error (storage::Store::*change)(ByteCount));
  Result<std::int64_t> end_position();
  Access access_of(const TransferCall& call, const View& view, std::int64_t position) const;
  Access no_access(Direction direction) const;
  Error stage_device_data(const TransferCall& call,
                          std::unique_ptr<device::Staging>& staging) const;
  Error device_error(Direction direction, const Error& failure) const;
  Error end_staging(device::Staging* staging, Direction direction, Transferred& moved);
  Outcome transfer_device_stretch(const StretchCall& call, FileOffset begin,
                                  const device::Place& place, const PointerMove& move);
  Prepared prepare(const TransferCall& call, bool in_background);
  std::int64_t take_shared_place(TransferCall& call, ByteCount unit, Error& failed);
  Outcome carry_out(Prepared& prepared, const fabric::Waiter& waiter);
  Outcome carry_out_once(Prepared& prepared, const fabric::Waiter& waiter);
  Outcome carry_out_parts(Prepared& prepared, const fabric::Waiter& waiter);
  Outcome move_parts(Prepared& prepared, Parts* parts, std::int64_t calls,
                     const fabric::Waiter& waiter);
  Outcome move_parts_alone(Prepared& prepared, Parts* parts, std::int64_t calls,
                           const fabric::Waiter& waiter);
  ByteCount set_next_part(Prepared& prepared, Parts& parts, ByteCount before, Error& failed);
  void leave_without_data(Prepared& prepared) const;
  Result<std::int64_t> most_calls(std::int64_t mine, const Prepared& prepared,
                                  const fabric::Waiter& waiter);
  Outcome carry_out_verified(Prepared& prepared, const fabric::Waiter& waiter);
  CollectiveTransfer::Moved move(Prepared& prepared, const fabric::Waiter& waiter,
                                 const MovedUnderLock& on_moved = {});
  void take_part_without_data(Prepared& prepared);
  Result<std::shared_ptr<Operation>> begin_call(const TransferCall& call, bool in_background);
  record::Verified collect_verified();
  /// Collective: where the shared pointer stands, in bytes of the file.
  Result<FileOffset> shared_byte_offset();

  static std::optional<StretchCall> stretch_of(const TransferCall& call);
  bool may_be_stretch(const StretchCall& call) const;
  Outcome finish(const TransferCall& call, ByteCount reachable,
                 const CollectiveTransfer::Moved& moved, const Error* wrong = nullptr);
  void count(Direction direction, policy::Path path, ByteCount bytes);
  std::shared_ptr<WorkQueue> lane();
  void drain_lane();
  void drain();
  struct Closing;
  Closing values_at_close(const Error& failed) const;
  void record(const Closing& all);

  std::shared_ptr<exchange::FileTeam> team_;
  std::unique_ptr<exchange::FileChannel> channel_;
  storage::FileSystem& file_system_;
  std::string path_;  ///< for messages: what `path` meant at open
  AccessMode mode_;
  const view::TypePtr byte_ = view::make_basic(1);
  std::unique_ptr<storage::Store> store_;
  storage::Layout layout_;                   ///< as the first rank found it
  bool nodes_write_for_each_other_ = false;  ///< or may do so
  /// Of the node's memory, what each rank has for one purpose of its own: an eighth for all ranks.
  ByteCount own_share_ = 0;
  std::optional<CollectiveTransfer> collective_;
  std::optional<SharedPosition> shared_;
  std::unique_ptr<Verification> verification_;          ///< null where nothing is verified
  std::atomic<std::int64_t> transfer_nanoseconds_ = 0;  ///< counted where something is
  std::atomic<ByteCount> independently_written_ = 0;    ///< counted where something is verified
  std::optional<record::Verified> verified_;            ///< by all ranks, when closed
  const std::shared_ptr<Background> background_ = std::make_shared<Background>();
  std::atomic<bool> is_atomic_ = false;

  record::FileTotals totals_;  ///< of this rank; its byte counts are added atomically
  std::optional<FailureLedger> failures_;
  std::optional<FileHints> hints_;
  FilePointer pointer_;
  SplitCall split_;

  std::mutex mutex_;  ///< guards what follows
  std::shared_ptr<WorkQueue> lane_;
};

}  // namespace headrace::file
