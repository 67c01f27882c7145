#pragma once

#include <cstddef>
#include <string>

namespace headrace {

/// The first bytes, at most `most`, of a small file such as those of /proc and /sys; "" if it
/// cannot be read. Does not use a stream: a process's first stream sets up locales, which takes
/// longer than opening a file.
std::string read_small_file(const char* path, std::size_t most);

/// The text of a file, as much as `most` bytes, without waiting for anybody. Where it cannot be
/// read: false, and errno.
bool read_text_file(const std::string& path, std::size_t most, std::string& text);

/// Opens a file without waiting for whoever might write into a pipe of this name. Negative, with
/// errno, if it cannot be opened.
int open_to_read(const std::string& path);

/// Fills `text` from a descriptor; its size is the most that is read, and then what was read.
bool read_descriptor(int descriptor, std::string& text);

}  // namespace headrace
