#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "record/image_file.h"

namespace headrace::record {

/// The latest calls on files without MPI of all threads of this rank, one by one, in the image
/// (HEADRACE_TIMELINE). Any thread may call it, signal handlers included: it waits for nobody and
/// takes no memory.
class FileTimeline {
 public:
  /// Null if the image has no room. `bytes`: the most that it takes.
  static std::unique_ptr<FileTimeline> make(ImageFile& image, std::uint64_t bytes);

  /// A call that has ended, on the file of `counts`, which lie in the image. The rest of `event` is
  /// found out here.
  struct Call {
    std::int64_t begin;
    std::int64_t ticks;
    std::int64_t bytes;
    std::int64_t offset;  ///< -1: none, or it is not known
    FileOperation operation;
    bool is_on_stream;
  };
  void add(const Call& call, const AccessCounts& counts) noexcept;

 private:
  FileTimeline(FileTimelineItem& item, std::span<FileEvent> ring) : item_(item), ring_(ring) {}

  FileTimelineItem& item_;
  const std::span<FileEvent> ring_;
};

/// The kernel's number of this thread.
std::int32_t system_thread() noexcept;

}  // namespace headrace::record
