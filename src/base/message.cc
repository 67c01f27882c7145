#include "base/message.h"

#include <unistd.h>

#include <mutex>
#include <set>

#include "base/settings.h"

namespace headrace {

void tell(const std::string& text) {
  if (settings().quiet) return;
  const std::string line = "headrace: " + text + "\n";
  // A message is worth no retry and no error of its own.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void tell_once(const std::string& text) {
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;  // never destroyed: usable during exit
  {
    const std::lock_guard lock(mutex);
    if (!told->insert(text).second) return;
  }
  tell(text);
}

}  // namespace headrace
