#pragma once

#include <array>
#include <string_view>

#include "fuzz/program.h"

namespace headrace::fuzz {

// The words of the text form. Names of enumerators are in their order.

inline constexpr std::array kTypeKinds{
    "basic",          "contiguous", "vector",  "hvector",  "indexed", "hindexed", "indexed_block",
    "hindexed_block", "structure",  "resized", "subarray", "darray",  "dup"};
inline constexpr std::array kStepKinds{"access",      "end",         "wait",        "seek",
                                       "seek_shared", "position",    "byte_offset", "set_view",
                                       "set_size",    "preallocate", "get_size",    "set_hints",
                                       "atomicity",   "sync",        "meet",        "reopen"};
inline constexpr std::array kPositionings{"explicit", "individual", "shared"};
inline constexpr std::array kStyles{"blocking", "nonblocking", "split"};
inline constexpr std::array kWhences{"set", "current", "end"};
inline constexpr std::array kCompletions{"wait",     "test",    "waitall", "waitany",
                                         "waitsome", "testall", "testany", "testsome"};

struct ModeWord {
  std::string_view name;
  bool Mode::* member;
};
inline constexpr std::array kModeWords{ModeWord{"read", &Mode::read},
                                       ModeWord{"write", &Mode::write},
                                       ModeWord{"create", &Mode::create},
                                       ModeWord{"exclusive", &Mode::exclusive},
                                       ModeWord{"append", &Mode::append},
                                       ModeWord{"sequential", &Mode::sequential},
                                       ModeWord{"delete_on_close", &Mode::delete_on_close},
                                       ModeWord{"unique_open", &Mode::unique_open}};

}  // namespace headrace::fuzz
