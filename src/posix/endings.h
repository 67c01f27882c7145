#pragma once

namespace headrace::posix {

/// The process may end, or another program replace its own: writes what buffers of descriptors and
/// of streams hold back, and prints what cannot be written. Descriptors have none from now on;
/// `why` is for people.
void save_all(const char* why) noexcept;

}  // namespace headrace::posix
