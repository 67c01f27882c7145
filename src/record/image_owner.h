#pragma once

#include <cstdint>
#include <string>

#include "record/image.h"

/// Whose an image is, and whether that process still runs.
namespace headrace::record {

/// When the process was started, in clock ticks after boot; 0 if there is none of that number. With
/// the number it names a process for as long as the machine runs.
long long process_start(int process);

/// The number of its parent; 0 if there is none that can be seen.
int parent_process(int process);

/// False if the file is not there, or is no whole image. Links are not followed.
bool read_header(const std::string& image, ImageHeader& header);

/// Where this process's numbers of processes hold; 0 if unknown.
std::uint64_t process_space();

/// Whether the process that made the image runs, or may run: one of another container cannot be
/// seen.
bool owner_runs(const ImageHeader& header);

/// Renames what a process has left that is gone, with its directory's other files left as they are.
/// False if the process still runs.
bool put_aside(const std::string& image);

}  // namespace headrace::record
