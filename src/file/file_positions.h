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
  /// All must outlive it. `is_sequential`: the file was opened with MPI_MODE_SEQUENTIAL.
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

  /// Where a call by the shared pointer begins; moves it by what the call asks for. Collective for
  /// an ordered call, in which a rank takes part with no data if it failed. `unit`: bytes of an
  /// etype.
  std::int64_t take_shared(TransferCall& call, ByteCount unit, Error& failed);
  /// Collective: where the shared pointer stands, in bytes of the file.
  Result<FileOffset> shared_byte_offset();
  /// The first rank's call when the file is opened; that of others does nothing.
  void start_shared_at(std::int64_t position) { shared_.set(position); }
  /// Puts the shared pointer of the next view to its beginning, before the ranks agree on it.
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
