#pragma once

#include <string>

namespace headrace {

/// Writes one line "headrace: <text>" to stderr by a single system call, so that lines of several
/// ranks do not mix. Never stdout: programs' stdout is parsed. Silent under HEADRACE_QUIET=1,
/// and where stderr was closed at the start or is another file now, unless one to append to.
void print_message(const std::string& text);

/// As print_message, but a given text is written at most once in a process.
void print_message_once(const std::string& text);

}  // namespace headrace
