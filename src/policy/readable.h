#pragma once

#include <string>

#include "base/types.h"

namespace headrace::policy {

/// "9.0 KiB": a number of bytes as people read it.
std::string readable(ByteCount bytes);

}  // namespace headrace::policy
