// Tries one promise of the MPI standard on files.
//
//   promises --list                                     the cases, a line each; needs no launcher
//   promises CASE DIRECTORY SECONDS plain|headrace      tries one; each rank leaves its record in
//                                                       DIRECTORY/record.RANK (watch.h)
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/failure.h"
#include "promises/case.h"

namespace headrace::bench::promises {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto group : {limit_cases(), data_cases(), short_read_cases(), request_cases(),
                           error_cases(), sharing_cases(), fault_cases()}) {
    cases.insert(cases.end(), group.begin(), group.end());
  }
  return cases;
}

int list() {
  for (const Case& one : all_cases()) {
    std::printf("%s\t%d\t%d\t%s\t%s\t%s\n", one.name, one.ranks, one.patience,
                one.ground == Ground::standard ? "standard" : "practice", one.section, one.promise);
  }
  return 0;
}

void initialize(int& argc, char**& argv, const Case& wanted) {
  int provided = MPI_THREAD_SINGLE;
  if (!wanted.threads) {
    MPI_Init(&argc, &argv);
    return;
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
}

void attempt(const Case& wanted, Trial& trial) {
  try {
    wanted.run(trial);
  } catch (const Stop&) {
  }
  record("judged");
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) CALL(MPI_Finalize());
  record("finished");
}

int try_case(int argc, char** argv, const Case& wanted) {
  const std::string directory = argv[2];
  const int seconds = std::atoi(argv[3]);
  const bool layered = std::strcmp(argv[4], "headrace") == 0;
  // A file beyond the limit is then an error that can be told, not a silent death.
  std::signal(SIGXFSZ, SIG_IGN);
  initialize(argc, argv, wanted);
  Trial trial(directory, layered);
  try {
    start_watch(directory + "/record." + std::to_string(trial.rank), seconds);
    attempt(wanted, trial);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "promises: error: %s [rank %d]\n", failure.what(), trial.rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}

}  // namespace
}  // namespace headrace::bench::promises

int main(int argc, char** argv) {
  using namespace headrace::bench::promises;
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) return list();
  if (argc == 5) {
    for (const Case& one : all_cases()) {
      if (std::strcmp(one.name, argv[1]) == 0) return try_case(argc, argv, one);
    }
  }
  std::fprintf(stderr,
               "promises: error: no such case (see promises --list), call it as "
               "promises CASE DIRECTORY SECONDS plain|headrace\n");
  return 2;
}
