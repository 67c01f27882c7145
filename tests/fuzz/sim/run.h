#pragma once

#include "fuzz/observations.h"
#include "fuzz/program.h"
#include "view/type.h"

namespace headrace::fuzz {

/// Runs a program on the engine: threads are ranks, and the disk is the simulation's.
Observations run(const Program& program);

/// The engine's type of a tree.
view::TypePtr make_type(const TypeTree& type);

}  // namespace headrace::fuzz
