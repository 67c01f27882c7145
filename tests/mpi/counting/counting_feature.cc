// Counts calls, and writes each rank's counts to stderr when MPI ends.
#include <atomic>
#include <cstdio>
#include <string>

#include "abi/flavour/job.h"
#include "abi/generated/features.h"
#include "counting.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace counting {
namespace {

std::atomic<long> counts[abi::kEntryCount][2] = {};

void tell_counts() {
  const std::string rank = std::to_string(rank_in_job());
  for (int entry = 0; entry < abi::kEntryCount; ++entry) {
    for (int name = 0; name < 2; ++name) {
      const long number = counts[entry][name];
      if (number == 0) continue;
      std::fprintf(stderr, "counted %s %s %ld\n", rank.c_str(), abi::entry_symbols[entry][name],
                   number);
    }
  }
}

}  // namespace

void count(abi::Entry entry, abi::Name name) {
  counts[static_cast<int>(entry)][static_cast<int>(name)].fetch_add(1, std::memory_order_relaxed);
}

void obey(int level) {
  if (level == kOff) abi::switch_off(abi::FeatureId::counting);
}

}  // namespace counting

const abi::Feature counting_feature = {
    abi::FeatureId::counting, "counting", counting_wrappers, nullptr, nullptr,
    &counting::tell_counts};

}  // namespace headrace::HEADRACE_FLAVOUR
