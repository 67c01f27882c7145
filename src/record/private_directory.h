#pragma once

#include <string>

#include "base/result.h"

/// Directories below places that all users share (/dev/shm, /tmp), in which only this user can see,
/// add or replace anything.
namespace headrace::record {

/// Makes it, or accepts one that is this user's alone. One that is not is an error: another user
/// may have put it there.
Error make_private_directory(const std::string& path);

}  // namespace headrace::record
