#pragma once

#include <string>
#include <utility>
#include <vector>

/// What is recorded of a process besides its calls.
namespace headrace::record {

/// Names and values.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// host, program, command, directory, cores (those to which it is bound now, as "0-3,8"). Of an
/// interpreter of Python the script. Where there is a Python its version, and the same as
/// python_without_lines if its frames cannot be read.
Facts process_facts();

/// The variables of the environment that are recorded, which have no secrets: those of this list of
/// names and beginnings of names, and our own settings.
Facts allowed_variables();

/// Cores as "0-3,8".
std::string core_list(const std::vector<int>& cores);

}  // namespace headrace::record
