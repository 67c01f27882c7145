#pragma once

#include "fuzz/observations.h"
#include "fuzz/program.h"

namespace headrace::fuzz {

/// Runs a program on the engine: threads are ranks, and the disk is the simulation's.
Observations run(const Program& program);

}  // namespace headrace::fuzz
