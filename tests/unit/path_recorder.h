#pragma once

#include <alloca.h>
#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "record/call_path.h"

namespace headrace::record {

using Chain = std::vector<std::uintptr_t>;

/// Keeps all paths, in memory.
class MemoryStore : public PathStore {
 public:
  explicit MemoryStore(std::size_t most = 1 << 16) : most_(most) {
    frames_.reserve(most);  // a signal handler adds to it
  }

  PathId add(PathId caller, std::uintptr_t return_address) noexcept override {
    if (frames_.size() == most_) return kNoPath;
    frames_.push_back({caller, return_address});
    return static_cast<PathId>(frames_.size() - 1);
  }
  /// Innermost first.
  Chain chain(PathId id) const {
    Chain chain;
    for (; id != kNoPath; id = frames_[id].caller) chain.push_back(frames_[id].return_address);
    return chain;
  }
  std::size_t size() const { return frames_.size(); }

 private:
  struct Frame {
    PathId caller;
    std::uintptr_t return_address;
  };
  std::size_t most_;
  std::vector<Frame> frames_;
};

/// Takes no memory to insert: a signal handler does.
class IdSet {
 public:
  void insert(PathId id) {
    if (id != kNoPath && !std::exchange(has_[id], true)) ++size_;
  }
  std::size_t size() const { return size_; }

 private:
  std::vector<char> has_ = std::vector<char>(1 << 16);
  std::size_t size_ = 0;
};

/// What stands for a recorder: calls find their path, and a wholly different unwinder, libc's, says
/// what it is.
struct Recorder {
  explicit Recorder(PathLimits limits = {}, CallerOf caller_of = nullptr,
                    std::size_t most = 1 << 16)
      : store(most), paths(store, limits, caller_of), depth(limits.depth) {}

  MemoryStore store;
  CallPaths paths;
  int depth;
  bool is_compared = true;
  IdSet ids;
  PathId last = kNoPath;
  int calls = 0;
};

inline Chain chain_by_libc(const std::uintptr_t* slot, int depth) {
  std::array<void*, 128> found{};
  const int count = ::backtrace(found.data(), found.size());
  Chain chain;
  for (int i = 0; i < count; ++i) chain.push_back(reinterpret_cast<std::uintptr_t>(found[i]));
  chain.erase(chain.begin(), std::ranges::find(chain, *slot));
  if (chain.size() > static_cast<std::size_t>(depth)) chain.resize(depth);
  while (!chain.empty() && chain.back() == 0) chain.pop_back();
  return chain;
}

[[gnu::noipa]] inline PathEnd& mpi_call(Recorder& recorder) {
  const auto* slot = static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1;
  PathEnd& end = recorder.paths.find(slot, 0);
  recorder.last = end.id;
  recorder.ids.insert(end.id);
  ++recorder.calls;
  if (recorder.is_compared) {
    EXPECT_EQ(recorder.store.chain(end.id), chain_by_libc(slot, recorder.depth));
  }
  return end;
}

inline void keep(const volatile void* memory) {
  asm volatile("" : : "r"(memory) : "memory");
}

[[gnu::noipa]] inline void first(Recorder& recorder) {
  mpi_call(recorder);
  keep(&recorder);
}
[[gnu::noipa]] inline void second(Recorder& recorder) {
  mpi_call(recorder);
  keep(&recorder);
  mpi_call(recorder);
  keep(&recorder);
}

[[gnu::noipa]] inline void with_alloca(Recorder& recorder, std::size_t size) {
  auto* memory = static_cast<volatile char*>(alloca(size));
  memory[0] = 1;
  keep(memory);
  mpi_call(recorder);
  keep(memory);
}

/// 64 paths of 6 frames and more to one call: each bit of `way` is one of two call sites.
[[gnu::noipa]] inline int branch(Recorder& recorder, unsigned way, int levels) {
  if (levels == 0) {
    mpi_call(recorder);
    return 1;
  }
  // The compiler would make one call of two that go on alike.
  int more = 0;
  if ((way & 1) != 0) {
    more = branch(recorder, way >> 1, levels - 1);
    asm volatile("nop");
  } else {
    more = branch(recorder, way >> 1, levels - 1);
    asm volatile("");
  }
  return more + 1;
}

}  // namespace headrace::record
