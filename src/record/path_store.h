#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace headrace::record {

using PathId = std::uint32_t;
inline constexpr PathId kNoPath = 0xffffffff;

/// Where functions return to that are called by way of the layer (trace/trampoline.S); 0: none are.
extern std::atomic<std::uintptr_t> trampoline_return;

/// Whether a frame is the trampoline's, which is not the program's: it stands for its caller.
inline bool is_between(PathId caller, std::uintptr_t return_address) noexcept {
  return return_address == trampoline_return.load(std::memory_order_relaxed) && caller != kNoPath;
}

/// Where new frames are kept, so that a killed process leaves them.
class PathStore {
 public:
  /// Called at most once for each frame of each path, outermost frames first: `caller` is the path
  /// that this frame continues inwards, kNoPath for an outermost one. kNoPath: no room; then it is
  /// not asked again. Called in an MPI call, so its object may be unloaded later.
  virtual PathId add(PathId caller, std::uintptr_t return_address) noexcept = 0;

  /// The same for a frame of Python. These continue a path of addresses: `caller` of the outermost
  /// is the path of the addresses, that of an inner one is the next outer one's.
  virtual PathId add_python(PathId /*caller*/, std::string_view /*function*/,
                            std::string_view /*file*/, int /*line*/) noexcept {
    return kNoPath;
  }

 protected:
  ~PathStore() = default;
};

/// Who called.
enum class Caller {
  program,
  wrapper,  ///< a tool's MPI_X that calls MPI_X, for whoever called the tool
  other     ///< the MPI library, a tool for itself, or we
};

/// By a return address. `procedure`: the number of the entry that was called.
using CallerOf = Caller (*)(std::uintptr_t return_address, int procedure);

/// The end of a call path: what the recorder hangs its rows on. It keeps its address.
struct PathEnd {
  PathId id = kNoPath;
  bool is_foreign = false;  ///< the call is not the program's
  void* rows = nullptr;
};

}  // namespace headrace::record
