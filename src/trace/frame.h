#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::trace {

/// Functions that can be traced: each has a stub of its own (trampoline.S).
inline constexpr std::uint32_t kMostFunctions = 2048;
/// Bytes of one stub.
inline constexpr std::size_t kStubSize = 16;
/// Bytes of arguments on the stack that a trampoline copies at most.
inline constexpr std::uint32_t kMostStackArguments = 16384;

/// What the trampoline keeps on the stack of one call. trampoline.S knows where each field lies.
struct TraceFrame {
  /// As the program left them, or, after the call, as the function left them: rax, rcx, rdx, rsi,
  /// rdi, r8, r9, r10, r11.
  std::uint64_t registers[9];
  std::uint64_t function;  ///< which stub was called
  const void* target;      ///< what to call
  std::uint64_t copied;    ///< bytes of arguments on the stack that the function gets a copy of
  const std::uintptr_t* return_slot;  ///< where the program's return address lies
  std::uint64_t answer;               ///< kept while registers of vectors are restored
};

inline constexpr int kResultRegister = 0;                        ///< rax
inline constexpr int kArgumentRegisters[] = {4, 3, 2, 1, 5, 6};  ///< rdi, rsi, rdx, rcx, r8, r9

static_assert(sizeof(TraceFrame) == 112);
static_assert(offsetof(TraceFrame, function) == 72 && offsetof(TraceFrame, target) == 80);
static_assert(offsetof(TraceFrame, copied) == 88 && offsetof(TraceFrame, return_slot) == 96);
static_assert(offsetof(TraceFrame, answer) == 104);

/// What the trampoline does next.
enum class Answer : int {
  pass = 0,   ///< jump to the target, as if nothing had been in between
  trace = 1,  ///< call it, then tell that it has ended
  learn = 2   ///< save the registers of vectors, then ask headrace_trace_learn
};

}  // namespace headrace::trace

extern "C" {
/// The first of kMostFunctions stubs, kStubSize bytes each.
extern const char headrace_trace_stubs[];
/// Where traced functions return to.
extern const char headrace_trace_returned[];

/// What the trampoline calls. These two must not use registers of vectors, in which functions get
/// arguments and leave results; enter.cc is compiled so.
int headrace_trace_enter(headrace::trace::TraceFrame* frame) noexcept;
/// False: headrace_trace_leave_slowly is to be called, with the registers of vectors saved.
int headrace_trace_leave(headrace::trace::TraceFrame* frame) noexcept;

/// As headrace_trace_enter; it may use all registers.
int headrace_trace_learn(headrace::trace::TraceFrame* frame) noexcept;
void headrace_trace_leave_slowly(headrace::trace::TraceFrame* frame) noexcept;
}
