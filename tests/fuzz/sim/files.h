#pragma once

#include <memory>
#include <string>

#include "fuzz/observations.h"
#include "fuzz/program.h"
#include "storage/store.h"

namespace headrace::fuzz {

/// Where a program's files lie: on the simulation's disk, or, by system calls that are cut short
/// and interrupted, in the working directory.
class Files {
 public:
  static std::unique_ptr<Files> create(const Program& program);
  virtual ~Files() = default;

  /// The file system as `rank` sees it. Lives as long as this.
  virtual storage::FileSystem& file_system(int rank) = 0;
  virtual void put(const std::string& name, const sim::Content& content) = 0;
  virtual Look look(const std::string& name) = 0;
};

}  // namespace headrace::fuzz
