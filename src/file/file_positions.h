#pragma once

#include <cstdint>
#include <string>

#include "file/background_calls.h"
#include "file/file.h"
#include "file/file_pointer.h"
#include "file/shared_position.h"
#include "storage/store.h"

namespace headrace::file {

/// The positions of an open file, and what its calls need of the shared pointer.
class FilePositions : public Positions {
 public:
  /// All arguments must outlive it. `is_sequential`: the file was opened with MPI_MODE_SEQUENTIAL.
  FilePositions(exchange::FileChannel& channel, storage::Store& store, const std::string& path,
                bool is_sequential, FilePointer& pointer, BackgroundCalls& calls)
      : channel_(channel),
        store_(store),
        path_(path),
        is_sequential_(is_sequential),
        pointer_(pointer),
        calls_(calls),
        shared_(channel, path) {}

  Error seek(std::int64_t offset, Whence whence) override;
  Result<std::int64_t> individual() const override;
  Result<FileOffset> byte_offset(std::int64_t offset) const override;
  Error seek_shared(std::int64_t offset, Whence whence) override;
  Result<std::int64_t> shared() override;

  /// Returns where a call with the shared pointer begins, in etypes, and moves the pointer by what
  /// the call requests. Collective for an ordered call, in which a rank that failed takes part
  /// without data. `unit`: bytes of an etype.
  std::int64_t take_shared(TransferCall& call, ByteCount unit, Error& failed);
  /// Collective: where the shared pointer stands, in bytes of the file.
  Result<FileOffset> shared_byte_offset();
  /// Sets the shared pointer when the file is opened. Does nothing on other ranks than the first.
  void start_shared_at(std::int64_t position) { shared_.set(position); }
  /// Sets the next view's shared pointer to 0, before the ranks agree on the view.
  void clear_next_shared() { shared_.clear_next(); }
  void use_next_shared() { shared_.use_next(); }

 private:
  Result<std::int64_t> end_position();

  exchange::FileChannel& channel_;
  storage::Store& store_;
  const std::string& path_;
  const bool is_sequential_;
  FilePointer& pointer_;
  BackgroundCalls& calls_;
  SharedPosition shared_;
};

}  // namespace headrace::file
