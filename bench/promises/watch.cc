#include "promises/watch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/failure.h"

namespace headrace::bench::promises {
namespace {

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kExitOfHang = 3;

int record_descriptor = -1;
const char* volatile current_call = "";

// Signal handlers may use write(2) and little else.
void put(const char* text, std::size_t length) {
  while (length > 0) {
    const ssize_t moved = ::write(record_descriptor, text, length);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return;
    text += moved;
    length -= static_cast<std::size_t>(moved);
  }
}

void put_line_with_call(const char* event, int number) {
  char line[160];
  std::size_t used = std::strlen(event);
  std::memcpy(line, event, used);
  if (number > 0) {
    line[used++] = '\t';
    if (number > 9) line[used++] = static_cast<char>('0' + number / 10);
    line[used++] = static_cast<char>('0' + number % 10);
  }
  line[used++] = '\t';
  for (const char* from = current_call; *from && *from != '(' && used < sizeof line - 1; ++from) {
    line[used++] = *from;
  }
  line[used++] = '\n';
  put(line, used);
}

void on_crash(int number) {
  put_line_with_call("signal", number);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void on_alarm(int) {
  put_line_with_call("hangs", 0);
  ::_exit(kExitOfHang);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

void start_watch(const std::string& record_file, int seconds) {
  record_descriptor = ::open(record_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (record_descriptor < 0) {
    throw Failure(describe_errno("cannot write '" + record_file + "'", errno));
  }
  const struct rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (const int number : kCrashes) handle(number, on_crash);
  handle(SIGALRM, on_alarm);
  ::alarm(static_cast<unsigned>(seconds));
  record("begun");
}

void record(const std::string& line) {
  const std::string text = line + "\n";
  put(text.data(), text.size());
}

void doing(const char* call) {
  current_call = call;
}

}  // namespace headrace::bench::promises
