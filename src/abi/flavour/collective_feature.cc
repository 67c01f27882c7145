// Collective operations in shared memory, and between nodes by leaders.
#include <string_view>

#include "abi/flavour/collective_communicator.h"
#include "abi/flavour/collective_use.h"
#include "abi/flavour/job.h"
#include "abi/generated/features.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

bool is_wanted(const Settings& settings) {
  return settings.collectives && switched_off().operations != ~0U;
}

collective::Operation operation_of(abi::Entry entry) {
  std::string_view symbol = abi::entry_symbols[static_cast<int>(entry)][0];
  symbol.remove_prefix(std::string_view("MPI_").size());
  if (symbol.ends_with("_c")) symbol.remove_suffix(2);
  return collective::operation_named(lower_case(symbol)).value();
}

bool needs(abi::Entry entry) {
  return is_watched(operation_of(entry));
}

bool is_any_watched() {
  for (int i = 0; i < collective::kOperations; ++i) {
    if (is_watched(static_cast<collective::Operation>(i))) return true;
  }
  return false;
}

void tell_unknown_names() {
  if (!is_initialized() || rank_in_job() != 0) return;
  for (const std::string& name : switched_off().unknown) {
    print_message("HEADRACE_COLL_OFF: '" + printable(name) +
                  "' has no effect (Headrace carries out no operation of this name), name others "
                  "as in bcast,allreduce");
  }
}

abi::Start start() {
  tell_unknown_names();
  if (!is_any_watched()) return abi::Start::unneeded;
  return start_collective_communicators() ? abi::Start::started : abi::Start::refused;
}

}  // namespace

const abi::Feature collective_feature = {.id = abi::FeatureId::collective,
                                         .name = "collective operations",
                                         .wrappers = collective_wrappers,
                                         .is_wanted = &is_wanted,
                                         .start = &start,
                                         .stop = &stop_collective_communicators,
                                         .needs = &needs,
                                         .explain = &record_unwatched};

}  // namespace headrace::HEADRACE_FLAVOUR
