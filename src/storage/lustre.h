#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/types.h"
#include "storage/file_layout.h"

namespace headrace::storage {

// The interface of Lustre's kernel module (lustre_user.h), without its headers.

/// Bytes of the largest layout: 2,000 objects, or the largest attribute.
inline constexpr std::size_t kLargestLustreLayout = 128 * 1024;

/// Reads a layout as the attribute lustre.lov or the ioctl gives it: plain (version 1 and 3), with
/// several objects on a device, or composite. Of a composite layout, takes the component that
/// reaches farthest, since it holds most of a large file. Nothing if the bytes are invalid.
std::optional<Stripes> parse_lustre_layout(std::span<const std::byte> layout);

/// The stripes of an open file; nothing if Lustre reports none.
std::optional<Stripes> lustre_stripes(int descriptor);

/// A request for a plain layout.
using LustreRequest = std::array<std::byte, 32>;
LustreRequest make_lustre_request(const StripingHints& hint);

/// The flag that opens a file so that its stripes can still be set.
extern const int kLustreDelayedCreate;
/// Sets the stripes of a new file that was opened with it. Returns an errno, or 0.
int set_lustre_stripes(int descriptor, const StripingHints& hint);

/// Requests locks for writing exactly [begin, end), begin < end, of the file before they are
/// needed, without waiting (Lustre's lock-ahead). Returns an errno, or 0.
int ask_lustre_lock(int descriptor, FileOffset begin, FileOffset end);

}  // namespace headrace::storage
