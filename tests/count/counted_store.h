#pragma once

#include <memory>
#include <string>

#include "storage/store.h"

namespace headrace::count {

/// A file system whose files count their calls and pass them on.
class CountedFileSystem : public storage::FileSystem {
 public:
  /// With `calls_for_one` above 1 each read and write is made that often: a planted regression.
  explicit CountedFileSystem(storage::FileSystem& inner, int calls_for_one = 1)
      : inner_(inner), calls_for_one_(calls_for_one) {}

  Result<std::unique_ptr<storage::Store>> open(const std::string& path,
                                               storage::OpenFlags flags) override;

 private:
  storage::FileSystem& inner_;
  int calls_for_one_;
};

}  // namespace headrace::count
