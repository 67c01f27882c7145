#pragma once

#include <string>
#include <variant>

#include "fuzz/program.h"

namespace headrace::fuzz {

// A program as text: one line for the job, each file, each step and each rank's part of a step.
// Words are "name=value", values that are at their default are left out, types look like
// "hvector([3],[1],[8],basic([4]))". Lines that begin with # are comments.

std::string to_text(const Program& program);
std::string to_text(const TypeTree& type);

/// The program, or why the text is none.
std::variant<Program, std::string> parse(const std::string& text);

}  // namespace headrace::fuzz
