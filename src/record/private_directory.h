#pragma once

#include <string>

#include "base/result.h"

/// Directories below places that all users share (/dev/shm, /tmp), in which only this user can see,
/// add or replace anything.
namespace headrace::record {

/// Makes it, or accepts one that is this user's alone. One that is not is an error: another user
/// may have put it there.
Error make_private_directory(const std::string& path);

/// Renames what a process has left that is gone, with its directory's other files left as they are.
/// False if the process still runs.
bool put_aside(const std::string& image);

/// When the process was started, in clock ticks after boot; 0 if there is none of that number. With
/// the number it names a process for as long as the machine runs.
long long process_start(int process);

}  // namespace headrace::record
