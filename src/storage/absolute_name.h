#pragma once

#include <string>
#include <string_view>

namespace headrace::storage {

/// `path` as seen from the root, where it is seen from `folder`.
std::string joined_name(std::string_view folder, std::string_view path);

/// What messages call the file `path`: its absolute name, which means the same file when the
/// program has changed its working directory. As given where the absolute one is so long that Open
/// MPI's error strings (256 characters) would not tell the reason, or the working directory has no
/// name.
std::string absolute_name(const std::string& path);

}  // namespace headrace::storage
