#include "fuzz/sim/isolated.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "fuzz/observations.h"
#include "fuzz/rules.h"
#include "fuzz/sim/run.h"
#include "fuzz/text.h"
#include "sim/scratch.h"

namespace headrace::fuzz {
namespace {

using Counter = std::atomic<std::int64_t>;

std::string problem_with(const Program& program) {
  if (const std::string undefined = problem_of(program); !undefined.empty()) {
    return "the program has no defined outcome: " + undefined;
  }
  const std::string written = to_text(program);
  const std::variant<Program, std::string> parsed = parse(written);
  if (!std::holds_alternative<Program>(parsed) || to_text(std::get<Program>(parsed)) != written) {
    return "its text cannot be read back";
  }
  std::string text;
  for (const std::string& problem : check(program, run(program))) text += problem + "\n";
  return text;
}

/// What the child does. Its threads do not survive it, so it leaves without cleaning up.
[[noreturn]] void run_in_child(std::int64_t count, const std::function<Program(std::int64_t)>& make,
                               unsigned seconds, Counter& done, int output) {
  for (std::int64_t i = 0; i < count; ++i) {
    alarm(seconds);
    const std::string problem = problem_with(make(i));
    if (!problem.empty()) {
      if (write(output, problem.data(), problem.size()) < 0) _exit(3);
      _exit(1);
    }
    done.store(i + 1);
  }
  alarm(0);
  _exit(0);
}

std::string read_all(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t len = 0; (len = read(descriptor, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(len));
  }
  return text;
}

}  // namespace

Verdict run_isolated(std::int64_t count, const std::function<Program(std::int64_t)>& make,
                     unsigned seconds) {
  void* const shared =
      mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2];
  if (shared == MAP_FAILED || pipe(ends) != 0) std::abort();
  auto& done = *new (shared) Counter(0);
  const sim::Scratch scratch(std::filesystem::temp_directory_path(), "fuzz");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    close(ends[0]);
    if (chdir(scratch.path()) != 0) std::abort();
    run_in_child(count, make, seconds, done, ends[1]);
  }
  close(ends[1]);
  Verdict verdict;
  verdict.problem = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  verdict.clean = done.load();
  munmap(shared, sizeof(Counter));
  if (WIFSIGNALED(status)) {
    verdict.problem = WTERMSIG(status) == SIGALRM
                          ? "it does not end\n"
                          : "it dies of signal " + std::to_string(WTERMSIG(status)) + "\n";
  } else if (WEXITSTATUS(status) != 0 && verdict.problem.empty()) {
    verdict.problem = "it exits with " + std::to_string(WEXITSTATUS(status)) + "\n";
  }
  return verdict;
}

}  // namespace headrace::fuzz
