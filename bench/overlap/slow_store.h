#pragma once

#include <cstdint>

namespace headrace::bench::overlap {

/// Makes every positioned read and write of this process sleep after its work, whoever calls it:
/// the MPI library, a layer below the program, the program. The executable defines pread, pwrite
/// and their vector forms, which the dynamic linker finds before libc's. What a library moves in
/// other ways (aio_write) is not slowed: delayed_bytes() shows it.
void slow_down(double seconds_per_byte);

/// Bytes that slept so far.
std::int64_t delayed_bytes();

}  // namespace headrace::bench::overlap
