#pragma once

#include <functional>

#include "fuzz/program.h"

namespace headrace::fuzz {

/// A smaller program that `fails`, like the given one. Only programs with a defined outcome are
/// tried, and at most `most_tries`.
Program shrink(Program program, const std::function<bool(const Program&)>& fails,
               int most_tries = 1500);

}  // namespace headrace::fuzz
