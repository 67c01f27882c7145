#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "record/entry_log.h"
#include "record/image_file.h"

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
  const EntryLogs* logs_of(std::int32_t rank);

 private:
  struct Part {
    void* memory = nullptr;
    std::size_t size = 0;
    const EntryLogs* logs = nullptr;
  };
  Part map(std::int32_t rank) const;

  const std::string directory_;
  std::unordered_map<std::int32_t, Part> parts_;
};

}  // namespace headrace::record
