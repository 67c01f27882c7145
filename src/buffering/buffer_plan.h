#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace headrace::buffering {

/// The buffers of one file on one rank.
struct BufferShape {
  ByteCount size = ByteCount{1} << 20;  ///< bytes of a block
  std::int64_t count = 4;               ///< blocks
  std::int64_t prefetch = 1;            ///< blocks that are read ahead of a sequential reader
  bool is_verbose = false;              ///< prints at close what the buffers did

  ByteCount bytes() const { return size * count; }
};

/// Files whose names match the pattern are buffered so.
struct BufferRule {
  std::string pattern;
  BufferShape shape;
};

struct BufferPlan {
  std::vector<BufferRule> rules;      ///< the first that matches counts
  std::vector<std::string> problems;  ///< with the character where each begins, from 1

  /// The rule for a file, by its name as it was given or in full; null: it is not buffered.
  const BufferRule* find(std::string_view given_name, std::string_view full_name) const;
};

/// Reads HEADRACE_IOBUF, in the form of Cray's IOBUF_PARAMS (man page iobuf):
/// PATTERN:WORD:WORD,PATTERN:WORD. A word is size=, count=, prefetch= or verbose. A backslash takes
/// a character as it is. A word that cannot be used is left out, and the rest counts.
BufferPlan read_buffer_plan(std::string_view text);

// The plan of this process. Each of these tells its problems, once.

/// Whether it names any files.
bool has_buffers();
/// The shape for a file, as BufferPlan::find. Takes note of the rule for unmatched_line().
const BufferShape* shape_of(std::string_view given_name, std::string_view full_name);
/// A line on the patterns that no file of this process has come under; "": there are none.
std::string unmatched_line();

/// For people: "4 of 1 MiB, 1 read ahead".
std::string text_of(const BufferShape& shape);

}  // namespace headrace::buffering
