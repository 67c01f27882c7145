#pragma once

#include <initializer_list>
#include <string_view>

namespace headrace {

/// print_message() (message.h) for signal handlers and processes without memory: takes no lock and
/// no memory. What is too long for a line is cut.
void print_plain_message(std::initializer_list<std::string_view> parts) noexcept;

/// Whether this process prints messages for the job. Uses the launcher's numbering, since MPI
/// cannot always be asked; without one, each process does.
bool speaks_for_job();

}  // namespace headrace
