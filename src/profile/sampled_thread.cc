#include "profile/sampled_thread.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace headrace::profile {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::unique_ptr<std::FILE, CloseFile> open_of_thread(pid_t thread, const char* name) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/" + name;
  return std::unique_ptr<std::FILE, CloseFile>(std::fopen(path.c_str(), "re"));
}

}  // namespace

// The kernel's numbers of clocks: the complement of the thread, and 6 for its CPU time
// (include/linux/posix-timers.h; CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED).
clockid_t cpu_clock_of(pid_t thread) {
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6U);
}

std::int64_t cpu_time_of(pid_t thread) {
  timespec time{};
  if (::clock_gettime(cpu_clock_of(thread), &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string name_of_thread(pid_t thread) {
  char name[32] = {};
  const auto file = open_of_thread(thread, "comm");
  if (file == nullptr || std::fgets(name, sizeof name, file.get()) == nullptr) return "";
  std::string text(name);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool blocks_signal(pid_t thread, int signal) {
  constexpr std::string_view kField = "SigBlk:";
  const auto file = open_of_thread(thread, "status");
  char line[256];
  while (file != nullptr && std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (!std::string_view(line).starts_with(kField)) continue;
    const unsigned long long mask = std::strtoull(line + kField.size(), nullptr, 16);
    return (mask >> (signal - 1) & 1) != 0;
  }
  return false;
}

AddressRange mapping_of(std::uintptr_t address) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen("/proc/self/maps", "re"));
  char line[512];
  bool is_begin = true;  // of a line, whose rest may be longer than the buffer
  while (file != nullptr && std::fgets(line, sizeof line, file.get()) != nullptr) {
    const bool was_begin = is_begin;
    is_begin = std::string_view(line).ends_with('\n');
    if (!was_begin) continue;
    char* middle = nullptr;
    const std::uintptr_t begin = std::strtoull(line, &middle, 16);
    if (*middle != '-') continue;
    const std::uintptr_t end = std::strtoull(middle + 1, &middle, 16);
    if (address < begin || address >= end) continue;
    return *middle == ' ' && middle[1] == 'r' ? AddressRange{begin, end} : AddressRange{};
  }
  return {};
}

}  // namespace headrace::profile
