#include "faults/leaks.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

namespace headrace::faults {
namespace {

int entries_of(const char* folder) {
  const std::filesystem::directory_iterator first(folder);
  return static_cast<int>(std::distance(first, std::filesystem::directory_iterator()));
}

int count_shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("headrace (deleted)") != std::string::npos ||
        line.find("/dev/shm/headrace-") != std::string::npos) {
      ++count;
    }
  }
  return count;
}

/// The thread sanitizer makes a thread of its own beside a process's first: it is to be counted
/// before and after a run.
void make_first_thread() {
  static std::once_flag once;
  std::call_once(once, [] { std::thread([] {}).join(); });
}

}  // namespace

Holdings Holdings::now() {
  make_first_thread();
  return {entries_of("/proc/self/fd"), entries_of("/proc/self/task"), count_shared_mappings()};
}

std::string Holdings::more_than(const Holdings& before) const {
  std::string text;
  const auto compare = [&](const char* what, int is, int was) {
    if (is > was) text += std::to_string(is - was) + " " + what + " left; ";
  };
  compare("descriptors", descriptors, before.descriptors);
  compare("threads", threads, before.threads);
  compare("shared mappings", shared_mappings, before.shared_mappings);
  return text;
}

}  // namespace headrace::faults
