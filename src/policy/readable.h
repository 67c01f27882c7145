#pragma once

#include <string>

#include "base/types.h"

namespace headrace::policy {

/// A number of bytes for messages: "9.0 KiB".
std::string readable(ByteCount bytes);

}  // namespace headrace::policy
