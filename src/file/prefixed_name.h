#pragma once

#include <optional>
#include <string_view>

namespace headrace::file {

/// The path in a file name of MPI: removes ROMIO's prefix of a file system and a colon ("ufs:",
/// "lustre:"). Nothing if that file system is not reached through the operating system, so that
/// only the library can open the file.
std::optional<std::string_view> path_of(std::string_view file_name);

}  // namespace headrace::file
