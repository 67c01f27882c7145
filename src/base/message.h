#pragma once

#include <span>
#include <string>

namespace headrace {

/// Writes one line "headrace: <text>" to stderr by a single system call, so that lines of several
/// ranks do not mix. Never stdout: programs' stdout is parsed. Silent under HEADRACE_QUIET=1, if
/// stderr was closed at the start, and if it is another file by now (unless that is opened to
/// append).
void print_message(const std::string& text);

/// The same of several lines, also by a single system call: what belongs together stays together.
void print_messages(std::span<const std::string> lines);

/// Like print_message, but writes a given text at most once in a process.
void print_message_once(const std::string& text);

/// Like print_message_once, but only in the job's first process, as the launcher numbers them: for
/// what all processes find alike. Without a number that is known here, each process counts as the
/// first.
void print_job_message_once(const std::string& text);

}  // namespace headrace
