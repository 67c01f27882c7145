#pragma once

#include <memory>

#include "storage/store.h"

namespace headrace::faults {

/// Another file system's, as `rank` sees it, with calls that the injector strikes.
class FaultyFileSystem : public storage::FileSystem {
 public:
  FaultyFileSystem(std::unique_ptr<storage::FileSystem> files, int rank)
      : files_(std::move(files)), rank_(rank) {}

  Result<std::unique_ptr<storage::Store>> open(const std::string& path,
                                               storage::OpenFlags flags) override;

 private:
  std::unique_ptr<storage::FileSystem> files_;
  int rank_;
};

}  // namespace headrace::faults
