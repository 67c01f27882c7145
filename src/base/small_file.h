#pragma once

#include <cstddef>
#include <string>

namespace headrace {

/// The first bytes of a file such as those of /proc and /sys, `most` at most; "" if it cannot be
/// read. Not by a stream: the first one of a process prepares locales, which takes longer than
/// opening a file.
std::string read_small_file(const char* path, std::size_t most);

}  // namespace headrace
