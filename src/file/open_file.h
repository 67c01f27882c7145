#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "buffering/buffered_store.h"
#include "file/agreement.h"
#include "file/background_calls.h"
#include "file/call_executor.h"
#include "file/failure_ledger.h"
#include "file/file.h"
#include "file/file_hints.h"
#include "file/file_pointer.h"
#include "file/file_positions.h"
#include "file/recorded_file.h"
#include "file/split_call.h"
#include "record/summary.h"

namespace headrace::file {

/// Implements File: opens and closes it, has its view, size and hints, and checks its calls.
/// CallExecutor executes the calls, FilePositions has the pointers, and BackgroundCalls has the
/// calls that run in the background.
class OpenFile : public File {
 public:
  /// `path`: for messages.
  OpenFile(const std::shared_ptr<exchange::FileTeam>& team, const std::string& path,
           AccessMode mode);

  /// What settings of all ranks ask for.
  struct Asked {
    bool verifies = false;
    bool displays = false;  ///< its aggregators
  };

  /// Collective: opens the store on all ranks, which have agreed on the mode and on what is asked,
  /// and agrees on hints. Only here is the program's file name used.
  Error open(std::unique_ptr<exchange::FileChannel> channel, storage::FileSystem& file_system,
             std::string_view path, const Hints& hints, const Asked& asked);

  Error close() override;
  Error sync() override;
  Result<ByteCount> size() override;
  Error resize(ByteCount size) override;
  Error allocate(ByteCount size) override;

  Error set_view(Result<View> view, const Hints& hints) override;
  View current_view() const override;
  Error set_hints(const Hints& hints, const Error& refused) override;
  Hints hints() const override;

  Positions& positions() override { return *positions_; }
  Error set_atomicity(bool atomic) override;
  bool atomicity() const override { return is_atomic_; }

  std::optional<Outcome> transfer_stretch(const StretchCall& call) override;
  Outcome transfer(const TransferCall& call) override;
  ByteCount part_size() const override { return executor_->part_size(); }
  Result<std::shared_ptr<Operation>> start(const TransferCall& call) override;
  Error begin(const TransferCall& call) override;
  Outcome end(Direction direction, bool shared, bool has_offset) override;

 private:
  FileFound found() const {
    return {layout_, store_ != nullptr ? store_->file_number() : 0, profile_};
  }

  Error open_store(storage::FileSystem& file_system, std::string_view path);
  void set_store(std::unique_ptr<storage::Store> opened, std::string_view path);
  void explain_buffers(const buffering::BufferShape& shape) const;
  Error find_end();
  Error settle_and(Error (storage::Store::*action)());
  void report_corrections(const Agreement& agreement);
  void display_aggregators(const Agreement& agreement);
  Error take_lock();
  void take_first_lock();
  template <class Change>
  Error change_size(ByteCount size, Change change);
  PreparedCall prepare(const TransferCall& call, bool in_background);
  Result<std::shared_ptr<Operation>> begin_call(const TransferCall& call, bool in_background);
  static std::optional<StretchCall> stretch_of(const TransferCall& call);
  bool may_be_stretch(const StretchCall& call) const;
  struct Closing;
  Closing values_at_close(const Error& failed) const;
  void record(const Closing& all, const std::optional<record::Verified>& verified) const;
  void tell_statistics(std::int64_t closing, bool tells_ranks) const;
  void tell_buffers() const;

  std::shared_ptr<exchange::FileTeam> team_;
  std::unique_ptr<exchange::FileChannel> channel_;
  std::string path_;  ///< for messages: the absolute name at open
  AccessMode mode_;
  const view::TypePtr byte_ = view::make_basic(1);
  RecordedFile recorded_;
  std::unique_ptr<storage::Store> store_;
  buffering::BufferedStore* buffered_ = nullptr;  ///< the store, if it has buffers
  storage::Layout layout_;                        ///< as the first rank found it
  ProfileFound profile_;
  bool nodes_write_for_each_other_ = false;  ///< also if only some calls may
  std::atomic<bool> is_atomic_ = false;
  std::optional<FailureLedger> failures_;
  std::optional<FileHints> hints_;
  std::optional<CallExecutor> executor_;
  FilePointer pointer_;
  std::optional<FilePositions> positions_;
  SplitCall split_;
  BackgroundCalls calls_;  ///< the last member, since its calls use the others until they are done
};

}  // namespace headrace::file
