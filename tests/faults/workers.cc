#include "faults/workers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "sim/scratch.h"

namespace headrace::faults {
namespace {

constexpr unsigned kSecondsForARun = 600;
constexpr int kFailed = 1;

template <class T>
T* make_shared_memory(std::size_t count) {
  void* const place =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) std::abort();
  return static_cast<T*>(place);
}

/// A directory in memory, where there is one.
std::filesystem::path parent_of_scratch() {
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  return std::filesystem::temp_directory_path();
}

struct Worker {
  pid_t process = -1;
  sim::Scratch scratch{parent_of_scratch(), "faults"};
};

/// What a worker process does: its items until one fails.
[[noreturn]] void run_worker(const Worker& worker, std::atomic<std::int64_t>& begun,
                             std::int64_t count, Place& place, Progress& progress, const Work& work,
                             const std::function<bool()>& enough) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (chdir(worker.scratch.path()) != 0) std::abort();
  const Begin begin = [&](const std::string& text) {
    alarm(kSecondsForARun);
    std::snprintf(place.text, sizeof place.text, "%s", text.c_str());
  };
  while (!enough()) {
    if (begun == 0) begun = ++progress.next;
    const std::int64_t item = begun - 1;
    if (item >= count) break;
    const std::string problem = work(item, progress, begin);
    begun = 0;
    if (problem.empty()) continue;
    std::printf("FAILED: %s\n%s", place.text, problem.c_str());
    std::fflush(nullptr);
    // Threads may be left; and what is left of memory says nothing new.
    _exit(kFailed);
  }
  alarm(0);
  place.is_done = true;
  std::exit(0);  // the leak sanitizer looks here
}

void tell(const Progress& progress) {
  std::printf("%lld runs, %lld faults struck, %lld failures\n",
              static_cast<long long>(progress.runs), static_cast<long long>(progress.struck),
              static_cast<long long>(progress.failures));
  std::fflush(stdout);
}

/// Whether a worker that ended did so well.
bool ended_well(int status, const Place& place) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kFailed) return false;
  const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  std::printf("FAILED: %s\n%s (%s %d)\n", place.text,
              hangs           ? "does not end"
              : place.is_done ? "leaves memory behind"
                              : "the process dies",
              WIFSIGNALED(status) ? "signal" : "exit code",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return false;
}

}  // namespace

Progress* make_progress(const std::string& path, const std::string& what) {
  if (path.empty()) return new (make_shared_memory<Progress>(1)) Progress{};
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ftruncate(file, sizeof(Progress)) != 0) return nullptr;
  void* const place = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (place == MAP_FAILED) return nullptr;
  auto* const progress = static_cast<Progress*>(place);
  const std::uint64_t mine = std::hash<std::string>{}(what);
  std::uint64_t is = 0;
  return progress->what.compare_exchange_strong(is, mine) || is == mine ? progress : nullptr;
}

void work_off(std::int64_t count, int jobs, Progress& progress, const Work& work,
              const std::function<bool()>& enough) {
  Place* const places = make_shared_memory<Place>(static_cast<std::size_t>(jobs));
  std::vector<Worker> workers(static_cast<std::size_t>(jobs));
  const auto start = [&](std::size_t i) {
    std::fflush(nullptr);
    workers[i].process = fork();
    if (workers[i].process < 0) std::abort();
    if (workers[i].process == 0) {
      run_worker(workers[i], progress.begun[i], count, places[i], progress, work, enough);
    }
  };
  for (std::size_t i = 0; i < workers.size(); ++i) start(i);
  constexpr std::chrono::milliseconds kLook{50};
  constexpr int kLooksForALine = 200;
  for (int look = 1, running = jobs; running > 0; ++look) {
    std::this_thread::sleep_for(kLook);
    if (look % kLooksForALine == 0) tell(progress);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      int status = 0;
      if (workers[i].process < 0 || waitpid(workers[i].process, &status, WNOHANG) <= 0) continue;
      workers[i].process = -1;
      const bool is_well = ended_well(status, places[i]);
      progress.failures += is_well ? 0 : 1;
      progress.begun[i] = 0;
      if (is_well || places[i].is_done || progress.next >= count || enough()) {
        --running;
      } else {
        start(i);
      }
    }
  }
  munmap(places, sizeof(Place) * static_cast<std::size_t>(jobs));
  tell(progress);
}

}  // namespace headrace::faults
