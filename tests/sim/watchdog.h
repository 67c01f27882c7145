#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace headrace::sim {

/// Ends the program with a message where something takes too long: a hang is a failure.
class Watchdog {
 public:
  Watchdog(std::string what, std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

/// The limit for one case: many times what any takes, as tests may share a core with many others.
inline constexpr std::chrono::seconds kCaseLimit{600};

}  // namespace headrace::sim
