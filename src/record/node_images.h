#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "record/entry_log.h"
#include "record/image_file.h"
#include "record/message_log.h"

namespace headrace::record {

/// What other ranks of the job have in their images on this node, mapped for reading. Not
/// thread-safe.
class NodeImages {
 public:
  explicit NodeImages(const ImageFile& own);
  ~NodeImages();
  NodeImages(const NodeImages&) = delete;
  NodeImages& operator=(const NodeImages&) = delete;

  /// Of a rank of MPI_COMM_WORLD. Null if it has no image here, or not yet, or one without logs.
  const EntryLogs* entry_logs(std::int32_t rank);
  const MessageLogs* message_logs(std::int32_t rank);

 private:
  struct Part {
    const std::byte* memory = nullptr;
    std::size_t size = 0;
  };
  const Part& part_of(std::int32_t rank);
  Part map(std::int32_t rank) const;

  const std::string directory_;
  std::unordered_map<std::int32_t, Part> parts_;
};

}  // namespace headrace::record
