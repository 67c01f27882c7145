#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/traced_functions.h"

namespace headrace::trace {

/// A function that a plan names by its place.
struct PlannedFunction {
  Way way = Way::hooks;
  std::string module;                 ///< build-id in hex, or the path of its file behind "path:"
  std::uint64_t offset = 0;           ///< in the module, as its ELF file counts
  std::uint32_t length = 0;           ///< of the nops
  std::uint32_t stack_arguments = 0;  ///< bytes
  std::vector<unsigned char> bytes;   ///< of the instructions that may be moved
  std::string name;
};

/// A function that cannot be traced, as was found before the run.
struct RefusedFunction {
  std::string module;  ///< a path, or ""
  std::string name;
  std::string why;
};

/// What is to be traced.
struct TracePlan {
  std::set<std::string, std::less<>> groups;
  std::set<std::string, std::less<>> imports;  ///< functions by name, whatever group they are in
  std::vector<PlannedFunction> functions;
  std::vector<RefusedFunction> refused;
  bool has_all_hooks = false;         ///< each function that calls hooks
  std::vector<std::string> problems;  ///< one each, as the user is told
};

/// Reads the text of HEADRACE_TRACE_PLAN: a function in each line, as docs/profile.md says. Lines
/// that are wrong are named, and left out.
void read_plan(std::string_view text, TracePlan& plan);

/// Takes names of HEADRACE_TRACE: groups, and sets of them. "0" is none.
void take_groups(const std::vector<std::string>& names, TracePlan& plan);

/// The group to which a function belongs that a library of this name defines; empty: to none that
/// can be traced.
std::string_view group_of(std::string_view function, std::string_view library);

/// Bytes of arguments that functions of a group take on the stack, at most; of no group, what any
/// function may be taken to need.
std::uint32_t stack_arguments_of(std::string_view group);

/// Whether it must be left alone: it looks at its caller's frame, or returns twice.
bool is_never_traced(std::string_view function);

}  // namespace headrace::trace
