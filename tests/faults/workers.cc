#include "faults/workers.h"

#include <sys/mman.h>
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
#include <new>
#include <thread>
#include <vector>

namespace headrace::faults {
namespace {

constexpr unsigned kSecondsForARun = 20;
constexpr int kFailed = 1;

template <class T>
T* make_shared_memory(std::size_t count) {
  void* const place =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) std::abort();
  return static_cast<T*>(place);
}

/// A directory in memory, where there is one, for as long as this lives.
class Scratch {
 public:
  Scratch() {
    const bool has_memory = access("/dev/shm", W_OK | X_OK) == 0;
    const auto parent =
        has_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    path_ = (parent / "faults-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

struct Worker {
  std::int64_t next = 0;  ///< item
  pid_t process = -1;
  Scratch scratch;
};

/// What a worker process does: its items until one fails.
[[noreturn]] void run_worker(const Worker& worker, std::int64_t count, int jobs, Place& place,
                             Progress& progress, const Work& work,
                             const std::function<bool()>& enough) {
  if (chdir(worker.scratch.path()) != 0) std::abort();
  const Begin begin = [&](const std::string& text) {
    alarm(kSecondsForARun);
    std::snprintf(place.text, sizeof place.text, "%s", text.c_str());
  };
  for (std::int64_t item = worker.next; item < count && !enough(); item += jobs) {
    place.item = item;
    const std::string problem = work(item, progress, begin);
    if (problem.empty()) continue;
    std::printf("FAILED: %s\n%s", place.text, problem.c_str());
    std::fflush(nullptr);
    // Threads may be left; and what is left of memory says nothing new.
    _exit(kFailed);
  }
  alarm(0);
  place.item = count;
  std::exit(0);  // the leak sanitizer looks here
}

void tell(const Progress& progress, std::int64_t failures) {
  std::printf("%lld runs, %lld faults struck, %lld failures\n",
              static_cast<long long>(progress.runs), static_cast<long long>(progress.struck),
              static_cast<long long>(failures));
  std::fflush(stdout);
}

/// Whether a worker that ended did so well.
bool ended_well(int status, const Place& place, std::int64_t count) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kFailed) return false;
  const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  std::printf("FAILED: %s\n%s (%s %d)\n", place.text,
              hangs                 ? "does not end"
              : place.item == count ? "leaves memory behind"
                                    : "the process dies",
              WIFSIGNALED(status) ? "signal" : "exit code",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return false;
}

}  // namespace

Progress& make_progress() {
  return *new (make_shared_memory<Progress>(1)) Progress{};
}

std::int64_t work_off(std::int64_t count, int jobs, Progress& progress, const Work& work,
                      const std::function<bool()>& enough) {
  Place* const places = make_shared_memory<Place>(static_cast<std::size_t>(jobs));
  std::vector<Worker> workers(static_cast<std::size_t>(jobs));
  std::int64_t failures = 0;
  const auto start = [&](std::size_t i) {
    std::fflush(nullptr);
    workers[i].process = fork();
    if (workers[i].process < 0) std::abort();
    if (workers[i].process == 0) {
      run_worker(workers[i], count, jobs, places[i], progress, work, enough);
    }
  };
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i].next = static_cast<std::int64_t>(i);
    start(i);
  }
  constexpr std::chrono::milliseconds kLook{50};
  constexpr int kLooksForALine = 200;
  for (int look = 1, running = jobs; running > 0; ++look) {
    std::this_thread::sleep_for(kLook);
    if (look % kLooksForALine == 0) tell(progress, failures);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      int status = 0;
      if (workers[i].process < 0 || waitpid(workers[i].process, &status, WNOHANG) <= 0) continue;
      workers[i].process = -1;
      const bool is_well = ended_well(status, places[i], count);
      failures += is_well ? 0 : 1;
      workers[i].next = places[i].item + jobs;
      if (is_well || workers[i].next >= count) {
        --running;
      } else {
        start(i);
      }
    }
  }
  munmap(places, sizeof(Place) * static_cast<std::size_t>(jobs));
  tell(progress, failures);
  return failures;
}

}  // namespace headrace::faults
