#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "record/mapped_array.h"
#include "record/path_store.h"
#include "record/python_layout.h"

namespace headrace::record {

/// The paths of one thread through Python, whose calls leave no C frames since CPython 3.11. Reads
/// the thread's own frames, without Python's global lock: an MPI call is made from C, so they stand
/// still. They are the words of a path's key; names are read once for each new key. Not
/// thread-safe. A code object that is freed and another one made in its place are not told apart.
class PythonPaths {
 public:
  static constexpr int kFrames = 4;

  /// `python` is what find_python tells.
  PythonPaths(PathStore& store, const std::optional<Python>& python, std::size_t most = 4096);

  /// Whether the process has a Python whose frames can be read.
  bool is_there() const noexcept { return python_.has_value(); }

  /// The path of a call whose C frames are `native`, with the innermost frames of Python: `native`
  /// itself where there are none, or no room.
  PathEnd& find(PathEnd& native) noexcept;

  struct Counts {
    std::uint64_t resolved = 0;    ///< keys, each the frames of a path at its instructions
    std::uint64_t unreadable = 0;  ///< of these, such whose frames were not what they should be
    std::uint64_t unstored = 0;    ///< of these, such for which the store or we had no room
    std::uint64_t folded = 0;      ///< calls that had no room for a key
  };
  const Counts& counts() const noexcept { return counts_; }

 private:
  struct Frame {
    std::uintptr_t code = 0;
    std::uintptr_t instruction = 0;

    bool operator==(const Frame&) const = default;
  };
  using Frames = std::array<Frame, kFrames>;  // innermost first, zeros behind the last
  struct Key {
    PathEnd* native = nullptr;
    Frames frames;
    PathEnd* end = nullptr;
  };
  struct Path {
    PathEnd* caller = nullptr;
    std::uintptr_t code = 0;
    int line = 0;
    PathEnd end;
  };

  bool read_frames(Frames& frames) const noexcept;
  PathEnd* add(PathEnd& native, const Frames& frames) noexcept;
  PathEnd* add_frame(PathEnd& caller, const Frame& frame) noexcept;

  PathStore& store_;
  std::optional<Python> python_;
  MappedArray<Key> keys_;
  MappedArray<std::uint32_t> places_;  // of keys, open-addressed
  MappedArray<Path> paths_;
  MappedArray<std::uint32_t> path_places_;
  std::size_t mask_;
  Counts counts_;
};

}  // namespace headrace::record
