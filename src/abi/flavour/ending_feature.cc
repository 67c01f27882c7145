// Communicators that end: features that keep something with communicators must know.
#include "abi/generated/features.h"
#include "base/settings.h"

namespace headrace::HEADRACE_FLAVOUR {

const abi::Feature ending_feature = {
    .id = abi::FeatureId::ending,
    .name = "ends of communicators",
    .wrappers = ending_wrappers,
    .is_wanted =
        [](const Settings& wanted) { return wanted.collectives || !wanted.coll_sync.empty(); },
    .start = nullptr,
    .stop = nullptr};

}  // namespace headrace::HEADRACE_FLAVOUR
