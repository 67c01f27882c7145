#include "abi/flavour/recorder_end.h"

#include <string>

#include "abi/flavour/native.h"
#include "record/job_end.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

namespace {

std::string library_version() {
  if (native.Get_library_version == nullptr) return "";
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (native.Get_library_version(text, &length) != MPI_SUCCESS) return "";
  const std::string whole(text);
  return whole.substr(0, whole.find('\n'));
}

#if defined(HEADRACE_FLAVOUR_OPENMPI)
constexpr const char* kAbi = "Open MPI";
#elif defined(HEADRACE_FLAVOUR_MPICH)
constexpr const char* kAbi = "MPICH";
#else
constexpr const char* kAbi = "MPI standard";
#endif

}  // namespace

record::Facts job_facts() {
  return {{"mpi", library_version()}, {"abi", kAbi}};
}

void finish_record() {
  record::finish_job(job_facts());
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
