// Records what the program does with MPI.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "abi/flavour/eager_limits.h"
#include "abi/flavour/job.h"
#include "abi/flavour/recorded_call.h"
#include "abi/flavour/recorded_caller.h"
#include "abi/flavour/recorder_end.h"
#include "abi/generated/features.h"
#include "base/message.h"
#include "base/settings.h"
#include "profile/event_counting.h"
#include "profile/sampler.h"
#include "record/recorder.h"
#include "trace/tracing.h"

namespace headrace::HEADRACE_FLAVOUR {

namespace recording {

namespace {

abi::Start start() {
  // By sessions alone there is no MPI_COMM_WORLD.
  if (!is_initialized()) return abi::Start::unneeded;
  record::RecorderStart start;
  start.rank = rank_in_job();
  native.Comm_size(MPI_COMM_WORLD, &start.rank_count);
  MPI_Comm parent = MPI_COMM_NULL;
  start.is_spawned = native.Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
  start.procedures = recorded_procedures;
  start.caller_of = &caller_of;
  start.facts = job_facts();
  if (start.rank == 0 && (settings().eager_display || !are_eager_limits_costly())) {
    std::ranges::move(eager_facts(), std::back_inserter(start.facts));
  }
  const Error failed = record::start_recorder(start);
  if (!failed) {
    profile::start_sampling();
    profile::start_counting();
    trace::start_tracing();
    return abi::Start::started;
  }
  if (start.rank == 0) {
    print_message("rank 0 is not recorded (" + failed.message +
                  "), set HEADRACE_RECORD=0 to hide this line");
  }
  return abi::Start::unneeded;
}

/// What takes long to find is asked for at the end, and only of jobs that have run for long.
void add_eager_facts() {
  constexpr std::int64_t kLong = 30'000'000'000;  // ns: 0.2 s are less than a hundredth
  const bool is_known = settings().eager_display || !are_eager_limits_costly();
  if (is_known || rank_in_job() != 0 || record::recorded_ns() < kLong) return;
  for (const auto& [name, value] : eager_facts()) {
    const std::string_view fields[] = {name, value};
    static_cast<void>(record::add_note(record::NoteKind::fact, fields));
  }
}

void stop() {
  trace::stop_tracing();
  profile::stop_counting();
  profile::stop_sampling();
  record::mark_end(record::RankState::finalized);
  add_eager_facts();
}

}  // namespace
}  // namespace recording

const abi::Feature recorder_feature = {abi::FeatureId::recorder, "the recorder",
                                       recorder_wrappers,        &recording::is_wanted,
                                       &recording::start,        &recording::stop};

}  // namespace headrace::HEADRACE_FLAVOUR
