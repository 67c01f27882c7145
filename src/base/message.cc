#include "base/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "base/kept_errno.h"
#include "base/no_cancellation.h"
#include "base/plain_message.h"
#include "base/plain_text.h"
#include "base/settings.h"
#include "base/signal_guard.h"

namespace headrace {
namespace {

/// What file is open under a descriptor.
struct Identity {
  dev_t device;
  ino_t inode;
  bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity_of(int descriptor) {
  const KeptErrno kept;
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

/// The file under stderr when the library was loaded.
const std::optional<Identity> first_stderr = identity_of(STDERR_FILENO);

/// Whether stderr still leads to the same file. If a program closed stderr, the next file or socket
/// that it or the MPI library opens gets the number 2: no message may go there.
bool is_stderr() {
  const std::optional<Identity> now = identity_of(STDERR_FILENO);
  if (!first_stderr || !now) return false;
  if (now == first_stderr) return true;
  // A log for all that the program says, which it opened to append, is fine too.
  return (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND) != 0 && now == identity_of(STDOUT_FILENO);
}

/// A message is worth no retry and no error of its own, and no end of the program if nobody reads
/// it any more.
void print_line(std::string_view line) {
  const SignalGuard pipe(SIGPIPE);
  const NoCancellation uncancelled;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

bool speaks_for_job() {
  for (const char* const variable :
       {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PALS_RANKID"}) {
    const char* const rank = std::getenv(variable);
    if (rank != nullptr && std::strcmp(rank, "0") != 0) return false;
  }
  return true;
}

void print_message(const std::string& text) {
  if (settings().quiet || !is_stderr()) return;
  print_line("headrace: " + text + "\n");
}

void print_messages(std::span<const std::string> lines) {
  if (lines.empty() || settings().quiet || !is_stderr()) return;
  std::string text;
  for (const std::string& line : lines) text += "headrace: " + line + "\n";
  print_line(text);
}

void print_plain_message(std::initializer_list<std::string_view> parts) noexcept {
  if (settings().quiet || !is_stderr()) return;
  const KeptErrno kept;
  PlainText<1024> line;
  line.add("headrace: ");
  for (const std::string_view part : parts) line.add(part);
  print_line(line.end_with('\n'));
}

void print_message_once(const std::string& text) {
  static std::mutex mutex;
  static auto* printed = new std::set<std::string>;  // never destroyed: usable during exit
  {
    const std::lock_guard lock(mutex);
    if (!printed->insert(text).second) return;
  }
  print_message(text);
}

void print_job_message_once(const std::string& text) {
  if (speaks_for_job()) print_message_once(text);
}

}  // namespace headrace
