// Communicators with a topology whose neighbours share nodes (HEADRACE_CART_REORDER).
#include "abi/generated/features.h"
#include "base/settings.h"

namespace headrace::HEADRACE_FLAVOUR {

const abi::Feature topology_feature = {abi::FeatureId::topology,
                                       "reordering of topologies",
                                       topology_wrappers,
                                       [](const Settings& wanted) { return wanted.cart_reorder; },
                                       nullptr,
                                       nullptr};

}  // namespace headrace::HEADRACE_FLAVOUR
