// Completion of our requests by the program's own waits and tests.
#include "abi/flavour/request.h"
#include "abi/generated/features.h"

namespace headrace::HEADRACE_FLAVOUR {

const abi::Feature completion_feature = {abi::FeatureId::completion,
                                         "completion of file requests",
                                         completion_wrappers,
                                         nullptr,
                                         nullptr,
                                         &finish_requests,
                                         true};

}  // namespace headrace::HEADRACE_FLAVOUR
