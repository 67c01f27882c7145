#include "posix/buffer_choice.h"

#include <fcntl.h>

#include <algorithm>
#include <array>

namespace headrace::posix {
namespace {

/// File systems in which the kernel makes up what is read: proc, sys, cgroup and its second
/// version, debug, trace, security, configuration, BPF, EFI.
constexpr std::array<unsigned long, 10> kOfKernel = {0x9fa0,     0x62656572, 0x27e0eb,   0x63677270,
                                                     0x64626720, 0x74726163, 0x73636673, 0x62656570,
                                                     0xcafe4a11, 0xde5e81e4};

}  // namespace

Obstacle obstacle_of(const OpenFacts& facts) {
  constexpr const char* kLeaveOut = "leave it out of HEADRACE_IOBUF";
  const auto kind = static_cast<unsigned long>(facts.file_system) & 0xffffffffUL;
  if (!S_ISREG(facts.mode) || (facts.flags & O_PATH) == O_PATH ||
      std::ranges::find(kOfKernel, kind) != kOfKernel.end()) {
    return {"it is not a regular file", kLeaveOut, true};
  }
  if ((facts.flags & O_APPEND) != 0) {
    return {"it is opened to append, where others may write, too", kLeaveOut};
  }
  if ((facts.flags & O_DIRECT) != 0) return {"it is opened with O_DIRECT", kLeaveOut};
  if ((facts.flags & (O_SYNC | O_DSYNC)) != 0) return {"it is opened with O_SYNC", kLeaveOut};
  switch (facts.sharing) {
    case Sharing::none: return {};
    case Sharing::in_process: return {"the program has it open already", kLeaveOut};
    case Sharing::mapped: return {"the program has mapped it", kLeaveOut};
    case Sharing::in_node: return {"another process writes it with buffers", kLeaveOut};
    case Sharing::unknown:
      return {"the program's other descriptors cannot be looked at", kLeaveOut};
  }
  return {};
}

}  // namespace headrace::posix
