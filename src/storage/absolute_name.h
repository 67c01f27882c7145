#pragma once

#include <string>
#include <string_view>

namespace headrace::storage {

/// The absolute name of `path`, which is relative to `folder` or absolute.
std::string joined_name(std::string_view folder, std::string_view path);

/// The name of the file `path` for messages: its absolute name, which stays valid when the program
/// changes its working directory. Returns `path` itself if the absolute name is so long that Open
/// MPI's error strings (256 characters) would lack the reason, or if the working directory has no
/// name.
std::string absolute_name(const std::string& path);

}  // namespace headrace::storage
