#pragma once

#include <cstdint>
#include <functional>

#include "record/image.h"
#include "record/path_store.h"

namespace headrace::record {

/// Writes down in which call a thread is, so that any process may see it meanwhile.
class OpenCall {
 public:
  /// A call around one that is under way: the library calls a function of the program's from it.
  struct Outer {
    const void* frame = nullptr;  ///< null: there is none
    LastCall call;
  };

  /// `place` lies in the image.
  void attach(LastCall& place) {
    place_ = &place;
    forget();
  }

  /// A call has begun, at `begin` in ticks. `frame` lies in the stack frame of its wrapper. Stacks
  /// grow downwards: a call whose frame is not above was left by an exception or a jump. Returns
  /// what leave() needs.
  Outer enter(std::uint32_t procedure, PathId path, std::int64_t begin,
              const void* frame) noexcept {
    Outer outer;
    if (std::greater<>()(frame_, frame)) [[unlikely]]
      outer = {frame_, *place_};
    frame_ = frame;
    place_->procedure = procedure;
    place_->path = path;
    place_->begin = begin;
    return outer;
  }

  /// That call has ended.
  void leave(const Outer& outer) noexcept {
    place_->begin = 0;
    if (outer.frame != nullptr) [[unlikely]]
      *place_ = outer.call;
    frame_ = outer.frame;
  }

  /// The thread has called nothing.
  void forget() noexcept {
    *place_ = {0, kNone, kNone};
    frame_ = nullptr;
  }

 private:
  LastCall* place_ = nullptr;
  const void* frame_ = nullptr;  ///< of the call that goes on
};

}  // namespace headrace::record
