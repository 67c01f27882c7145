#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace headrace::storage {

/// What a site or user says of file systems, in the place of what is found (HEADRACE_FS_FACTS).
struct GivenFacts {
  std::string pattern;  ///< of mount points, or of the kinds' names
  std::optional<int> kind = {};
  std::optional<bool> is_coherent = {};
  std::optional<ByteCount> stripe_size = {};
  std::optional<std::int64_t> stripe_count = {};
  std::optional<ByteCount> request_size = {};
  std::optional<bool> locks_whole_files = {};
};

struct ReadFacts {
  std::vector<GivenFacts> facts;
  std::vector<std::string> problems;

  /// Those of the first pattern that matches the mount point or the kind's name; null: none does.
  const GivenFacts* find(std::string_view kind, std::string_view mount_point) const;
};

/// Reads PATTERN:WORD=VALUE:WORD=VALUE,PATTERN:WORD=VALUE. What cannot be used is named, and the
/// rest counts.
ReadFacts read_given_facts(std::string_view text);

/// Those of this process. Tells problems once.
const ReadFacts& given_facts();

}  // namespace headrace::storage
