#pragma once

#include <string>

namespace headrace::topo {

/// The model of this node's processor, as the kernel tells it; empty if it does not. The program
/// that measures for profiles has this source, too.
std::string processor_name();

}  // namespace headrace::topo
