#pragma once

#include <string_view>

#include "posix/buffer_choice.h"
#include "posix/buffer_request.h"

/// What was decided about the buffers of a file that the program uses without MPI: goes into the
/// record, and is told to people who ask for it. `name`: the file's, in full if it is known;
/// `is_verbose`: the user wants to hear of each process. Signal handlers may call all of it.
namespace headrace::posix::buffers {

void note_start(const BufferShape& shape, std::string_view name, bool is_verbose) noexcept;
/// It was written to, and other nodes may reach it.
void note_written(std::string_view name) noexcept;
void note_obstacle(const Obstacle& obstacle, std::string_view name, bool is_verbose) noexcept;
/// Had buffers until now.
void note_release(const char* why, std::string_view name, bool is_verbose) noexcept;

/// There are no more of them.
inline constexpr Obstacle kNoSlot = {"64 files have some", "name fewer files in HEADRACE_IOBUF"};
inline constexpr Obstacle kNoShare = {"HEADRACE_NODE_MEMORY is too small for them",
                                      "set a larger one"};
inline constexpr Obstacle kNoMemory = {"there is no memory for them", "write a smaller size="};

}  // namespace headrace::posix::buffers
