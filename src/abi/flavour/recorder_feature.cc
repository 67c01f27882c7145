// Records what the program does with MPI.
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string>

#include "abi/flavour/job.h"
#include "abi/flavour/recorded_call.h"
#include "abi/flavour/recorder_end.h"
#include "abi/generated/features.h"
#include "base/message.h"
#include "base/settings.h"
#include "record/recorder.h"

namespace headrace::HEADRACE_FLAVOUR {

namespace recording {

namespace {

/// Where the object is loaded that has this address; null where none has.
const void* object_of(std::uintptr_t address, const char** file = nullptr) {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(address), &found) == 0) return nullptr;
  if (file != nullptr) *file = found.dli_fname;
  return found.dli_fbase;
}

/// Calls from the MPI library, its plugins and from here are none of the program's. Its Fortran
/// layers are objects of their own: what they call, the program calls.
bool is_of_library(std::uintptr_t return_address) {
  static const void* const library = object_of(reinterpret_cast<std::uintptr_t>(native.Comm_rank));
  static const void* const own = object_of(reinterpret_cast<std::uintptr_t>(&is_of_library));
  const char* file = nullptr;
  const void* const object = object_of(return_address - 1, &file);
  if (object == nullptr) return false;
  if (object == library || object == own) return true;
  const char* const name = file == nullptr ? nullptr : std::strrchr(file, '/');
  return name != nullptr && std::strncmp(name, "/mca_", 5) == 0;  // Open MPI's
}

bool is_wanted(const Settings& settings) {
  return settings.record;
}

bool start() {
  if (!is_initialized()) return false;  // by sessions alone there is no MPI_COMM_WORLD
  record::RecorderStart start;
  start.rank = rank_in_job();
  native.Comm_size(MPI_COMM_WORLD, &start.rank_count);
  start.procedures = recorded_procedures;
  start.is_of_library = &is_of_library;
  start.facts = job_facts();
  const Error failed = record::start_recorder(start);
  if (failed && start.rank == 0) {
    print_message("nothing is recorded (" + failed.message +
                  "), set HEADRACE_RECORD=0 to hide this line");
  }
  return true;
}

void stop() {
  record::mark_end(record::RankState::finalized);
}

}  // namespace
}  // namespace recording

const abi::Feature recorder_feature = {abi::FeatureId::recorder, "the recorder",
                                       recorder_wrappers,        &recording::is_wanted,
                                       &recording::start,        &recording::stop};

}  // namespace headrace::HEADRACE_FLAVOUR
