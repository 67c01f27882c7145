#include "profile/registers.h"

#include <ucontext.h>

namespace headrace::profile {

Registers registers_of_context(const void* context) noexcept {
  Registers registers{};
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  constexpr int kOrder[kRegisters] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                      REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (std::size_t i = 0; i < kRegisters; ++i) {
    registers[i] = static_cast<std::uintptr_t>(machine.gregs[kOrder[i]]);
  }
#elif defined(__aarch64__)
  registers[kStackPointer] = machine.sp;
  registers[kReturnAddress] = machine.pc;
#else
  static_cast<void>(machine);
#endif
  return registers;
}

}  // namespace headrace::profile
