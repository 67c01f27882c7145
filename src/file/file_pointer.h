#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "file/call_check.h"
#include "file/file.h"
#include "file/viewed_stretch.h"

namespace headrace::file {

/// How a call moved the individual pointer, if it did.
struct PointerMove {
  ByteCount unit = 0;    ///< bytes of an etype at that time; 0: the call did not move the pointer
  std::int64_t end = 0;  ///< where the call left the pointer
  std::uint64_t seeks = 0;  ///< number of seeks before
};

/// The view of an open file and the individual pointer in it, in etypes. Safe from several threads.
class FilePointer {
 public:
  /// `path`: for messages, must outlive it.
  FilePointer(const std::string& path, std::shared_ptr<const View> view);

  /// Takes a view and goes to its beginning. Calls `meanwhile` before another thread sees the view.
  template <class Meanwhile>
  void set_view(std::shared_ptr<const View> view, Meanwhile meanwhile);

  std::shared_ptr<const View> view() const;
  /// Bytes of an etype, see unit_of(). Takes no lock.
  ByteCount unit() const { return unit_.load(std::memory_order_relaxed); }
  /// What the view shows, if that is one stretch. Takes no lock.
  ViewedStretch stretch() const { return stretch_.get(); }

  std::int64_t position() const;
  /// Sets the pointer before another thread knows the file.
  void start_at(std::int64_t position) { position_ = position; }
  Error seek(std::int64_t offset, Whence whence, std::int64_t end);
  /// `base` + `offset`, in etypes; an error if there is no such position.
  Result<std::int64_t> target(std::int64_t base, std::int64_t offset) const;
  /// The first position, in etypes, whose bytes lie at or behind the end of a file of `size` bytes.
  Result<std::int64_t> end_position(ByteCount size) const;
  Result<FileOffset> byte_offset(std::int64_t offset) const;

  /// Where a call's data lies.
  struct Place {
    std::shared_ptr<const View> view;
    std::int64_t position = 0;  ///< in etypes
    PointerMove move;
  };
  /// Takes the place of a call of `bytes` bytes that was checked with etypes of `unit` bytes;
  /// `shared` is its position if it uses the shared pointer. Calls check_place() and make(view,
  /// position); then moves the pointer behind the data. A call that has `failed`, or fails here,
  /// moves nothing.
  template <class Make>
  Place take(const TransferCall& call, ByteCount unit, ByteCount bytes, std::int64_t shared,
             Error& failed, Make make);
  /// The same for a call that uses this pointer and whose data is one stretch of the file; nothing
  /// if it is not.
  std::optional<FileOffset> take_stretch(ByteCount bytes, PointerMove& move);

  /// Corrects the pointer, which was moved by what was requested, to stand behind the whole etypes
  /// that were moved. What other threads did with it meanwhile is respected. After a seek, nothing
  /// is corrected. Concurrent reads that met the end of the file each take back what they did not
  /// get, in any order. Behind a write that failed lies what a later one has written, so the
  /// pointer stays behind that.
  void pull_back(Direction direction, ByteCount missing, const PointerMove& move);

 private:
  void show(std::shared_ptr<const View> view);

  const std::string& path_;
  std::atomic<ByteCount> unit_ = 1;
  SharedStretch stretch_;

  mutable std::mutex mutex_;  ///< guards what follows
  std::shared_ptr<const View> view_;
  std::int64_t position_ = 0;
  std::uint64_t seeks_ = 0;  ///< how often it was set, not moved by a call
};

template <class Meanwhile>
void FilePointer::set_view(std::shared_ptr<const View> view, Meanwhile meanwhile) {
  const std::lock_guard lock(mutex_);
  show(std::move(view));
  position_ = 0;
  seeks_ += 1;
  meanwhile();
}

template <class Make>
FilePointer::Place FilePointer::take(const TransferCall& call, ByteCount unit, ByteCount bytes,
                                     std::int64_t shared, Error& failed, Make make) {
  const std::lock_guard lock(mutex_);
  Place place{view_, call.shared ? shared : call.offset.value_or(position_), {}};
  if (failed) return place;
  failed = attempt([&]() -> Error {
    if (Error error = check_place(call, path_, *view_, unit, place.position, bytes)) return error;
    return make(*view_, place.position);
  });
  if (failed || call.offset || call.shared) return place;
  position_ += bytes / unit_of(*view_);
  place.move = {unit_of(*view_), position_, seeks_};
  return place;
}

}  // namespace headrace::file
