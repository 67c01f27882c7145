#pragma once

#include <span>
#include <string>
#include <vector>

#include "record/image_reader.h"

namespace headrace::record {

/// Files, each once, that a rank of these had open to write to through buffers as if nobody else
/// did, where other nodes may reach them (kOthersMayReach). Those that have names in the record.
std::vector<std::string> held_files_of(std::span<const Image> images);

}  // namespace headrace::record
