// Collective operations in shared memory, and between nodes by leaders.
#include "abi/flavour/collective_communicator.h"
#include "abi/flavour/collective_request.h"
#include "abi/flavour/job.h"
#include "abi/generated/features.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

bool is_wanted(const Settings& settings) {
  return settings.collectives && collective_calls::switched_off().operations != ~0U;
}

void tell_unknown_names() {
  if (!is_initialized() || rank_in_job() != 0) return;
  for (const std::string& name : collective_calls::switched_off().unknown) {
    print_message("HEADRACE_COLL_OFF: '" + printable(name) +
                  "' has no effect (Headrace carries out no operation of this name), name others "
                  "as in bcast,allreduce");
  }
}

abi::Start start() {
  tell_unknown_names();
  return start_collective_communicators() ? abi::Start::started : abi::Start::refused;
}

}  // namespace

const abi::Feature collective_feature = {
    abi::FeatureId::collective,    "collective operations", collective_wrappers, &is_wanted, &start,
    &stop_collective_communicators};

}  // namespace headrace::HEADRACE_FLAVOUR
