// Runs the fuzzer's random programs, or those in files, through MPI's entry points and judges what
// the ranks saw. All ranks make the same program; rank 0 compares with the oracle.
//
//   fuzz [--seed S] [--count N] [--without FEATURE]... [--single] [--no-shrink] [--program FILE]...
//        DIRECTORY
//
// Prints each program that fails, made smaller unless --no-shrink, and at the end
// "F of N sequences failed". --single asks MPI for MPI_THREAD_SINGLE.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/generate.h"
#include "fuzz/shrink.h"
#include "fuzz/text.h"
#include "fuzz_file.h"
#include "fuzz_gather.h"

namespace headrace::fuzz {
namespace {

constexpr unsigned kSecondsForOne = 300;
constexpr int kMaxFailures = 5;

struct Options {
  std::uint64_t seed = 1;
  std::int64_t count = 100;
  Features features;
  bool single = false;
  bool shrinks = true;
  std::vector<std::string> programs;
  std::string directory = ".";
};

bool* feature_named(Features& features, const std::string& name) {
  if (name == "nonblocking") return &features.nonblocking;
  if (name == "split") return &features.split;
  if (name == "shared") return &features.shared;
  if (name == "atomic") return &features.atomic;
  if (name == "sequential") return &features.sequential;
  if (name == "large") return &features.large_files;
  if (name == "groups") return &features.groups;
  return name == "errors" ? &features.errors : nullptr;
}

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const std::string next = i + 1 < count ? words[i + 1] : "";
    if (word == "--single") {
      options.single = true;
    } else if (word == "--no-shrink") {
      options.shrinks = false;
    } else if (word == "--seed") {
      options.seed = std::strtoull(words[++i], nullptr, 10);
    } else if (word == "--count") {
      options.count = std::strtoll(words[++i], nullptr, 10);
    } else if (word == "--program") {
      options.programs.push_back(words[++i]);
    } else if (word == "--without") {
      if (bool* feature = feature_named(options.features, words[++i])) *feature = false;
    } else {
      options.directory = word;
    }
  }
  return options;
}

/// A program that hangs is told by its text, and ends the job.
const char* running_now = "";

void on_alarm(int) {
  const char words[] = "no end of this program:\n";
  (void)!write(STDOUT_FILENO, words, sizeof words - 1);
  (void)!write(STDOUT_FILENO, running_now, std::char_traits<char>::length(running_now));
  _exit(42);
}

class Runner {
 public:
  Runner(const Options& options, bool has_threads) : options_(options), has_threads_(has_threads) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Collective over all ranks. The problems, known to all of them; empty for none.
  std::string run(const Program& program) const {
    const std::string text = "seed " + std::to_string(program.seed) + "\n" + to_text(program);
    if (rank_ == 0) running_now = text.c_str();
    alarm(rank_ == 0 ? kSecondsForOne : kSecondsForOne + 20);
    MPI_Comm comm = MPI_COMM_NULL;
    const bool takes_part = rank_ < program.ranks();
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank_, &comm);
    std::string problems;
    if (takes_part) {
      for (const std::string& problem : run_on(program, comm)) problems += problem + "\n";
      MPI_Comm_free(&comm);
    }
    alarm(0);
    running_now = "";
    int length = static_cast<int>(problems.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    problems.resize(static_cast<std::size_t>(length));
    MPI_Bcast(problems.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return problems;
  }

 private:
  /// The problems on rank 0 of `comm`, nothing elsewhere.
  std::vector<std::string> run_on(const Program& program, MPI_Comm comm) const {
    const std::vector<std::unique_ptr<FuzzFile>> files = files_of(program, comm);
    if (has_threads_ && program.has_thread_a_file) {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < files.size(); ++i) {
        threads.emplace_back([&, i] {
          files[i]->open_first();
          for (const Step& step : program.steps) {
            if (step.file == static_cast<int>(i)) files[i]->take(step);
          }
          files[i]->close_last();
        });
      }
    } else {
      for (const auto& file : files) file->open_first();
      for (const Step& step : program.steps) {
        files[static_cast<std::size_t>(step.file)]->take(step);
      }
      for (const auto& file : files) file->close_last();
    }
    const Observations observations = gather(comm, files);
    if (rank_ != 0) return {};
    return check(program, observations);
  }

  /// One for each file of the program, over a communicator of the group's own.
  std::vector<std::unique_ptr<FuzzFile>> files_of(const Program& program, MPI_Comm comm) const {
    std::vector<std::unique_ptr<FuzzFile>> files;
    const std::vector<Group> groups = groups_of(program);
    for (std::size_t i = 0; i < program.files.size(); ++i) {
      const int number = program.files[i].groups[static_cast<std::size_t>(rank_)];
      MPI_Comm of_group = MPI_COMM_NULL;
      MPI_Comm_split(comm, number, rank_, &of_group);
      for (const Group& group : groups) {
        if (group.file != static_cast<int>(i) || group.number != number) continue;
        files.push_back(
            std::make_unique<FuzzFile>(program, group, rank_, of_group, options_.directory));
      }
    }
    return files;
  }

  const Options& options_;
  bool has_threads_;
  int rank_ = 0;
  int size_ = 0;
};

void report(const Runner& runner, const Program& program, std::string problem, bool shrinks) {
  if (runner.rank() == 0) {
    std::printf("FAILED, seed %llu:\n%s%s", static_cast<unsigned long long>(program.seed),
                problem.c_str(), to_text(program).c_str());
    std::fflush(stdout);
  }
  if (!shrinks) return;
  const Program small = shrink(
      program,
      [&](const Program& candidate) {
        const std::string found = runner.run(candidate);
        if (!found.empty()) problem = found;
        return !found.empty();
      },
      300);
  if (runner.rank() != 0) return;
  std::printf("the smallest program found:\n%sfails by: %s\n", to_text(small).c_str(),
              problem.c_str());
  std::fflush(stdout);
}

Program read_program(const std::string& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  std::variant<Program, std::string> parsed = parse(text.str());
  if (auto* program = std::get_if<Program>(&parsed)) return std::move(*program);
  std::printf("%s: %s\n", name.c_str(), std::get<std::string>(parsed).c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

int run_all(const Runner& runner, Options options) {
  options.features.ranks = runner.size();
  const bool from_files = !options.programs.empty();
  const std::int64_t count = from_files ? std::ssize(options.programs) : options.count;
  std::int64_t failures = 0;
  std::int64_t done = 0;
  for (; done < count && failures < kMaxFailures; ++done) {
    const Program program =
        from_files ? read_program(options.programs[static_cast<std::size_t>(done)])
                   : generate(options.seed + static_cast<std::uint64_t>(done), options.features);
    if (program.ranks() > runner.size()) continue;
    const std::string problem = runner.run(program);
    if (problem.empty()) continue;
    failures += 1;
    report(runner, program, problem, options.shrinks);
  }
  if (runner.rank() == 0) {
    std::printf("%lld of %lld sequences failed\n", static_cast<long long>(failures),
                static_cast<long long>(done));
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace headrace::fuzz

int main(int count, char** words) {
  using namespace headrace::fuzz;
  const Options options = read_options(count, words);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &words, options.single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                  &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  signal(SIGALRM, on_alarm);
  const int result = run_all(Runner(options, provided >= MPI_THREAD_MULTIPLE), options);
  MPI_Finalize();
  return result;
}
