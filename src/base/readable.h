#pragma once

#include <string>

#include "base/types.h"

namespace headrace {

/// When a number of bytes is told with a tenth of its unit; bytes never are.
enum class Tenths { below_ten, always };

/// A number of bytes for messages: "9.0 KiB", and "12 KiB" or "12.0 KiB".
std::string readable(ByteCount bytes, Tenths tenths = Tenths::below_ten);

}  // namespace headrace
