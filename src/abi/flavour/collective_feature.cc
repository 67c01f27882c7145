// Collective operations in shared memory, and between nodes by leaders.
#include "abi/flavour/collective_communicator.h"
#include "abi/flavour/collective_request.h"
#include "abi/generated/features.h"
#include "base/settings.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

bool is_wanted(const Settings& settings) {
  return settings.collectives && collective_calls::switched_off() != ~0U;
}

abi::Start start() {
  return start_collective_communicators() ? abi::Start::started : abi::Start::refused;
}

}  // namespace

const abi::Feature collective_feature = {
    abi::FeatureId::collective,    "collective operations", collective_wrappers, &is_wanted, &start,
    &stop_collective_communicators};

}  // namespace headrace::HEADRACE_FLAVOUR
