#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/types.h"
#include "storage/file_layout.h"

namespace headrace::storage {

// What Lustre's kernel module takes and gives (its lustre_user.h), without its headers.

/// Bytes that hold the largest layout: 2,000 objects, or what an attribute may have.
inline constexpr std::size_t kLargestLustreLayout = 128 * 1024;

/// Reads a layout as the attribute lustre.lov or the ioctl gives it: plain (version 1 and 3), with
/// several objects on a device, or composite. Of a composite layout the component that reaches
/// farthest counts: it holds most of a large file. Nothing where the bytes make no sense.
std::optional<Stripes> parse_lustre_layout(std::span<const std::byte> layout);

/// The stripes of an open file; nothing where Lustre tells none.
std::optional<Stripes> lustre_stripes(int descriptor);

/// What a plain layout is asked for with.
using LustreRequest = std::array<std::byte, 32>;
LustreRequest make_lustre_request(const StripingHints& hint);

/// Opens a file so that its stripes can still be set.
extern const int kLustreDelayedCreate;
/// Sets the stripes of a new file that was opened that way; errno, or 0.
int set_lustre_stripes(int descriptor, const StripingHints& hint);

/// Asks for locks to write [begin, end) of the file before they are needed, without waiting, and
/// without more than that (Lustre's lock-ahead). errno, or 0.
int ask_lustre_lock(int descriptor, FileOffset begin, FileOffset end);

}  // namespace headrace::storage
