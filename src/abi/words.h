#pragma once

#include <cstdint>

namespace headrace::abi {

/// One argument of an MPI procedure, as the calling convention passes it.
using Word = std::uintptr_t;

/// If the caller returns the result, the compiler makes these calls jumps: a tool that walks the
/// stack sees no frame of ours.
template <class... Words>
inline Word call_words(void* function, Words... words) {
  return reinterpret_cast<Word (*)(Words...)>(function)(words...);
}

inline double call_real(void* function) {
  return reinterpret_cast<double (*)()>(function)();
}

// A procedure with any number and type of arguments (MPI_Pcontrol): passes on all registers that
// may hold an argument, and twelve words of the stack. Those that hold no argument have any value,
// as without us.
#define HEADRACE_STACK_PARAMETERS                                                           \
  Word s0, Word s1, Word s2, Word s3, Word s4, Word s5, Word s6, Word s7, Word s8, Word s9, \
      Word s10, Word s11
#define HEADRACE_STACK_ARGUMENTS s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
#define HEADRACE_REAL_PARAMETERS \
  double d0, double d1, double d2, double d3, double d4, double d5, double d6, double d7
#define HEADRACE_REAL_ARGUMENTS d0, d1, d2, d3, d4, d5, d6, d7

#if defined(__x86_64__)
#define HEADRACE_ANY_PARAMETERS                                                   \
  Word w0, Word w1, Word w2, Word w3, Word w4, Word w5, HEADRACE_REAL_PARAMETERS, \
      HEADRACE_STACK_PARAMETERS
#define HEADRACE_ANY_ARGUMENTS \
  w0, w1, w2, w3, w4, w5, HEADRACE_REAL_ARGUMENTS, HEADRACE_STACK_ARGUMENTS
/// A variadic call tells the callee how many vector registers hold arguments, so this must be one,
/// too.
using AnyFunction = Word (*)(Word, ...);
#else
#define HEADRACE_ANY_PARAMETERS                                           \
  Word w0, Word w1, Word w2, Word w3, Word w4, Word w5, Word w6, Word w7, \
      HEADRACE_REAL_PARAMETERS, HEADRACE_STACK_PARAMETERS
#define HEADRACE_ANY_ARGUMENTS \
  w0, w1, w2, w3, w4, w5, w6, w7, HEADRACE_REAL_ARGUMENTS, HEADRACE_STACK_ARGUMENTS
using AnyFunction = Word (*)(HEADRACE_ANY_PARAMETERS);
#endif

}  // namespace headrace::abi
