#pragma once

#include <string>

#include "base/types.h"
#include "buffering/buffer_plan.h"

namespace headrace::buffering {

/// A shape of at most `most` bytes. Fewer blocks first, but two rather than one: with one nothing
/// is written or read while the program goes on. Then smaller ones; count 0: none is possible.
BufferShape limited(BufferShape shape, ByteCount most);

/// A line on buffers `given` that are less than the `wanted` ones, where so many ranks share an
/// eighth of the node's memory: with what would allow them. "" if they are as wanted.
std::string cut_line(const BufferShape& wanted, const BufferShape& given, std::int64_t ranks);

/// Keeps the first such case of this process, for which nothing can be printed yet. Takes no
/// memory, since a signal's handler may open files.
void note_cut(const BufferShape& wanted, const BufferShape& given, std::int64_t ranks) noexcept;
/// Its line; "" if there was none.
std::string noted_cut_line();

}  // namespace headrace::buffering
