#pragma once

#include <memory>
#include <optional>

#include "faults/script.h"
#include "storage/store.h"

namespace headrace::faults {

/// Where a script's file lives: the simulation's disk, or the working directory.
class World {
 public:
  static std::unique_ptr<World> create(const Script& script);
  virtual ~World() = default;
  virtual storage::FileSystem& files(int rank) = 0;
  /// None where there is no file.
  virtual std::optional<Bytes> content() = 0;
};

inline constexpr const char* kFileName = "file";

}  // namespace headrace::faults
