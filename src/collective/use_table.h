#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collective/generated/uses.h"

namespace headrace::collective {

/// Where operations are carried out, as somebody measured it.
struct UseTable {
  std::vector<Use> uses;
  /// One each: "line 3 is ignored (why), what to write".
  std::vector<std::string> problems;
};

/// Reads a table in TOML (base/toml.h). A table's name says of which library and how many nodes it
/// is; a key is an operation, and its text has ranges of bytes of one rank's block, each with how
/// many times as fast we are at the least:
///
///     [mpich.one.8]
///     allreduce = "1-512 1.5, 4096-1048576 1.2"
///     [mpich.several.4x2]
///     allgather = "1-65536 1.9"
///
/// 8: measured with 8 ranks on one node, and 4x2: on 4 nodes of 2 ranks. measured_nodes.h says
/// where that holds. Without these a table holds for any number of ranks, and on any number of
/// nodes from 2 on. It does not count where ranks outnumber cores, unless its name ends in
/// `.crowded`: then it counts there alone.
///
/// A table `origin` says where it was measured, and tables like `mpich.one.library.2` are about the
/// library's own algorithms, which `headrace run` sets: both are left alone. What cannot be used is
/// named and left out; the rest counts.
UseTable read_use_table(std::string_view text);

/// "mpich", "intel" or "openmpi".
std::optional<Library> library_named(std::string_view name);

}  // namespace headrace::collective
