#pragma once

#include <optional>
#include <string_view>

namespace headrace::abi {

/// The path in a file name as MPI libraries take it: ROMIO's names may begin with the name of a
/// file system and a colon ("ufs:", "lustre:"), which is cut off. None where that file system is
/// not reached through the operating system, so that only the library can open it.
std::optional<std::string_view> path_of(std::string_view file_name);

}  // namespace headrace::abi
