#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fuzz/observations.h"

namespace headrace::fuzz {

// Files by the system's calls, for runs that use real ones. Calls that cannot fail abort if they
// do.

/// What a file holds and where, as it can be sent to another process.
struct Image {
  bool exists = false;
  std::int64_t size = 0;
  std::map<std::int64_t, std::vector<std::uint8_t>> pieces;  ///< by offset; the rest are holes
};
Image image_of(const std::string& path);
Look look_at(const Image& image);

/// Creates or replaces a file. Of large contents only the ends may hold anything.
void write_content(const std::string& path, const sim::Content& content);

}  // namespace headrace::fuzz
