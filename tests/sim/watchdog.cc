#include "sim/watchdog.h"

#include <cstdio>
#include <cstdlib>

namespace headrace::sim {

Watchdog::Watchdog(std::string what, std::chrono::seconds limit) {
  thread_ = std::thread([this, what = std::move(what), limit] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, limit, [this] { return done_; })) return;
    std::fprintf(stderr, "HANG: %s did not end within %lld s\n", what.c_str(),
                 static_cast<long long>(limit.count()));
    std::abort();
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace headrace::sim
