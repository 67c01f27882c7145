#pragma once

#include <cstddef>
#include <string>

namespace headrace {

/// The first bytes, at most `most`, of a small file such as those of /proc and /sys; "" if it
/// cannot be read. Does not use a stream: a process's first stream sets up locales, which takes
/// longer than opening a file.
std::string read_small_file(const char* path, std::size_t most);

}  // namespace headrace
