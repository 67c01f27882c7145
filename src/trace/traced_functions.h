#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/frame.h"

namespace headrace::trace {

/// How calls of a function are seen; records have these numbers.
enum class Way : std::uint32_t { slots, hooks, nops, prologue, none };

/// What is needed in each call.
struct TracedFunction {
  const void* target = nullptr;    ///< what the stub leads to
  std::uint32_t note = 0;          ///< in the image
  std::uint32_t copied = 0;        ///< bytes of arguments on the stack; a multiple of 16
  std::uint8_t sizes[2] = {0, 0};  ///< arguments, from 1, whose product is what a call moves
  bool has_size = false;           ///< `sizes` has any
  bool has_result = false;         ///< the result times `sizes` is what a call moves
};

/// By the number of its stub.
extern std::array<TracedFunction, kMostFunctions> functions;

/// What is known of a function that is to be traced.
struct FunctionName {
  std::string_view name;   ///< the linker's
  std::string_view group;  ///< empty: it was asked for by its name
  Way way = Way::slots;
};

inline constexpr std::uint32_t kNoFunction = 0xffffffff;

/// Takes the next number for a function, which lies at `target`. The same number for the same
/// target and way. kNoFunction if there is none left, or no room in the image. Throws
/// std::bad_alloc.
std::uint32_t add_function(const FunctionName& name, const void* target,
                           std::uint32_t stack_arguments);
/// The same; nothing if another thread adds one now.
std::optional<std::uint32_t> try_to_add_function(const FunctionName& name, const void* target);
/// Tells the record why a function is not traced. `module`: the file in which it lies, if known.
void refuse_function(const FunctionName& name, std::string_view why, std::string_view module = {});

/// How many were left out.
std::uint32_t left_out();
/// How many are traced.
std::uint32_t function_count();

inline const void* stub_of(std::uint32_t number) {
  return headrace_trace_stubs + std::size_t{number} * kStubSize;
}

}  // namespace headrace::trace
