#include <cstdio>

#include "common/failure.h"
#include "common/hints.h"
#include "common/results_file.h"
#include "common/world.h"
#include "ior/output.h"
#include "ior/parameters.h"
#include "ior/test.h"

namespace headrace::bench::ior {
namespace {

/// The ranks that take part (-N), or MPI_COMM_NULL for the others.
MPI_Comm participants(const Parameters& parameters) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (parameters.task_count > size) {
    throw AgreedFailure("-N asks for " + std::to_string(parameters.task_count) +
                            " tasks (there are " + std::to_string(size) + "), start more ranks",
                        2);
  }
  if (parameters.task_count == 0 || parameters.task_count == size) return MPI_COMM_WORLD;
  MPI_Comm chosen = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < parameters.task_count ? 0 : MPI_UNDEFINED, rank, &chosen);
  return chosen;
}

std::string command_line(int argc, char** argv) {
  std::string text = "ior";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  return text;
}

/// Where the summary goes; empty where there is none beside the table.
std::string summary_path(const Parameters& parameters) {
  if (parameters.summary_format == "DEFAULT") return {};
  return parameters.summary_file.empty() ? "-" : parameters.summary_file;
}

std::string summary(const Parameters& parameters, const Output& output, const Results& results) {
  return parameters.summary_format == "JSON" ? output.json(results) : output.csv(results);
}

int run(const Parameters& parameters, MPI_Comm communicator, const std::string& command) {
  const World world = survey(communicator);
  Output output(parameters, world, command);
  const bool talks = world.rank == 0;
  const bool table = parameters.summary_format == "DEFAULT" || !parameters.summary_file.empty();
  Test test(parameters, world, requested_hints(communicator, parameters.hints_file),
            [&](const Access& access) {
              if (table) output.access(access);
            });
  require_results_file(world.communicator, summary_path(parameters));
  if (talks && table) output.begin();
  const Results results = test.run();
  if (talks && table) output.end(results);
  write_results_file(world.communicator, summary_path(parameters),
                     talks ? summary(parameters, output, results) : std::string());
  return results.wrong_bytes > 0 ? 1 : 0;
}

int body(int argc, char** argv) {
  std::string help;
  const Parameters parameters = parse_parameters(argc, argv, help);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parameters.show_help) {
    if (rank == 0) std::fputs(help.c_str(), stdout);
    return 0;
  }
  const MPI_Comm communicator = participants(parameters);
  if (communicator == MPI_COMM_NULL) return 0;
  const int status = run(parameters, communicator, command_line(argc, argv));
  return status;
}

}  // namespace
}  // namespace headrace::bench::ior

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"ior", "-b or -s"}, headrace::bench::ior::body);
}
