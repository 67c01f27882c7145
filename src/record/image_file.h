#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/process_mark.h"
#include "base/result.h"
#include "record/image.h"

namespace headrace::record {

/// Where the images of this user's jobs are on this node, best first: directories that others
/// cannot read or change, one below each place that may hold them.
/// `first` goes before the usual places, unless it is empty.
std::vector<std::string> image_directories(const std::string& first);

/// Removes a job's directory if it is empty, and then the user's.
void remove_job_directory(const std::string& job);

/// The memory of one rank's recorder: a file in memory or on a local disk that is mapped as a whole
/// and filled from its front. Thread-safe.
class ImageFile {
 public:
  /// Makes `<job>/<name>` in the first directory that has room. One of that name that a process
  /// left which is gone is put aside. `capacity` in bytes; less if files are limited to less.
  static Result<std::unique_ptr<ImageFile>> make(std::span<const std::string> directories,
                                                 const std::string& job, const std::string& name,
                                                 std::uint64_t capacity);
  ~ImageFile();
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;

  ImageHeader& header() { return *reinterpret_cast<ImageHeader*>(memory_); }
  const std::string& path() const { return path_; }

  /// Room for `capacity` items; null if the image is full, or if this is a forked child.
  ExtentHeader* take(ExtentKind kind, std::uint32_t thread, std::uint32_t item_size,
                     std::uint32_t capacity);

  /// The same, but null as well if another thread is taking something, or the interrupted code of
  /// this one: it waits for nobody and takes no memory, so signal handlers may call it. Signals
  /// must be blocked (Adding), so that none lets the program jump out of it.
  ExtentHeader* try_take(ExtentKind kind, std::uint32_t item_size, std::uint32_t capacity);

  /// Adds a note and returns its number, kNone if there is no room. One that is there already, with
  /// the same fields, is not added again.
  std::uint32_t note(NoteKind kind, std::span<const std::string_view> fields);

  /// Whether this process made it: a forked child must leave it alone.
  bool is_ours() const { return process_.is_here(); }

  /// Whether it made its job's directory: of one process of a job on a node, as a rule.
  bool is_first_of_job() const { return is_first_of_job_; }

  /// Removes the file; what is mapped stays.
  void remove();

 private:
  ImageFile(std::byte* memory, std::uint64_t capacity, std::string path);
  bool make_room(std::uint64_t size);
  bool allocate_to(std::uint64_t size);
  bool is_at_path(int descriptor) const;
  ExtentHeader* take_locked(ExtentKind kind, std::uint32_t thread, std::uint32_t item_size,
                            std::uint32_t capacity);
  bool append(std::span<const std::byte> note);

  const ProcessMark process_;
  std::mutex mutex_;
  std::byte* const memory_;
  const std::uint64_t capacity_;
  const std::string path_;
  bool is_first_of_job_ = false;
  std::uint64_t allocated_;  ///< bytes from the front that the file system has set aside
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::int64_t refused_at_ = 0;  ///< when there was no room, in ns of CLOCK_MONOTONIC; 0: never
  ExtentHeader* notes_ = nullptr;
  struct Notes;
  std::unique_ptr<Notes> known_;
};

}  // namespace headrace::record
