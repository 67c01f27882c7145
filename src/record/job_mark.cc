#include "record/job_mark.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <initializer_list>

#include "record/image_owner.h"

namespace headrace::record {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int number_of(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const int value = std::atoi(variable(name).c_str());
    if (value > 0) return value;
  }
  return 0;
}

std::string process_name(int process) {
  return std::to_string(process) + "-" + std::to_string(process_start(process));
}

/// Of hydra's proxy (MPICH, Intel MPI, MVAPICH), which made the socket that PMI_FD is; "" if it is
/// none. Programs that the proxy starts by way of a shell have the same socket.
std::string proxy_of_hydra() {
  const std::string text = variable("PMI_FD");
  if (text.empty()) return "";
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(std::atoi(text.c_str()), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "";
  return peer.pid <= 0 ? "" : "hydra-" + process_name(peer.pid);
}

std::string job_name() {
  const std::string space = variable("PMIX_NAMESPACE");
  if (!space.empty()) return "pmix-" + space;
  if (const std::string proxy = proxy_of_hydra(); !proxy.empty()) return proxy;
  if (const std::string id = variable("PALS_APID"); !id.empty()) return "pals-" + id;
  if (const std::string id = variable("ALPS_APP_ID"); !id.empty()) return "alps-" + id;
  const std::string id = variable("SLURM_JOB_ID");
  const std::string step = variable("SLURM_STEP_ID");
  if (!id.empty() && !step.empty() && !variable("SLURM_PROCID").empty()) {
    return "slurm-" + id + "." + step;
  }
  return "process-" + process_name(getpid());
}

/// Letters, digits and `.-_@`, 100 at most.
std::string fit_for_a_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '@') {
      c = '_';
    }
  }
  if (text.starts_with('.')) text[0] = '_';
  return text.substr(0, 100);
}

}  // namespace

JobMark find_job_mark() {
  JobMark mark;
  mark.name = fit_for_a_name(job_name());
  for (const char* const name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID",
                                 "FLUX_JOB_ID", "PALS_APID"}) {
    mark.number = fit_for_a_name(variable(name));
    if (!mark.number.empty()) break;
  }
  mark.ranks = number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PALS_SIZE", "SLURM_STEP_NUM_TASKS"});
  mark.ranks_on_node =
      number_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"});
  if (mark.name.starts_with("process-")) mark.ranks = mark.ranks_on_node = 1;
  return mark;
}

}  // namespace headrace::record
