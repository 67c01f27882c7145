#pragma once

#include <vector>

#include "sim/random.h"
#include "steps/view_map.h"

namespace headrace::sim {

using steps::View;
using steps::ViewMap;

/// Random views of all ranks that show each byte of the file to one rank at most.
std::vector<View> disjoint_views(Random& random, int ranks);

/// Random views that may overlap and, unless `ascending`, go backwards.
std::vector<View> free_views(Random& random, int ranks, bool ascending);

/// The views with their types expanded.
std::vector<ViewMap> maps_of(const std::vector<View>& views);

}  // namespace headrace::sim
