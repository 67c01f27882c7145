// Stand-ins for functions that leave frames of the stack for good. They are led here only if files
// get buffers.
#include <bit>
#include <cstdint>

#include "posix/descriptor_buffers.h"
#include "posix/stand_ins.h"

namespace headrace::posix::counted {
namespace {

/// Where the stack ends after the jump; 0: that is not known. The C library keeps it mixed with a
/// number of the process (glibc's sysdeps/unix/sysv/linux/x86_64/pointer_guard.h and
/// jmpbuf-offsets.h).
std::uintptr_t stack_at(const __jmp_buf_tag* target) noexcept {
#if defined(__x86_64__)
  constexpr int kStack = 6;
  constexpr int kTurn = 17;
  std::uintptr_t guard = 0;
  asm("mov %%fs:0x30, %0" : "=r"(guard));
  const auto mixed = static_cast<std::uintptr_t>(target->__jmpbuf[kStack]);
  return std::rotr(mixed, kTurn) ^ guard;
#else
  static_cast<void>(target);
  return 0;
#endif
}

}  // namespace

#define HEADRACE_JUMP(name)                                                \
  void name(__jmp_buf_tag* target, int value) noexcept {                   \
    if (buffers::are_wanted()) buffers::unwind_locks_to(stack_at(target)); \
    real.name(target, value);                                              \
    __builtin_unreachable();                                               \
  }

HEADRACE_JUMP(longjmp)
HEADRACE_JUMP(_longjmp)
HEADRACE_JUMP(siglongjmp)
HEADRACE_JUMP(__longjmp_chk)

}  // namespace headrace::posix::counted
