#include "base/process_mark.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace headrace {
namespace {

using Number = std::atomic<std::uint32_t>;

constinit Number in_kept_memory = 0;
/// How many processes there were in the line from the first one that made a mark to this one.
constinit Number count = 0;

/// Children that fork() makes are told, others are not: _Fork(), clone(). So the number lies in
/// memory that the kernel clears in any child (since Linux 4.14).
Number* make_number() {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return &in_kept_memory;
  ::madvise(page, size, MADV_WIPEONFORK);
  return new (page) Number(0);
}

void begin_child() {
  process_number.load()->store(count.fetch_add(1) + 1);
}

bool prepare() {
  process_number = make_number();
  ::pthread_atfork(nullptr, nullptr, &begin_child);
  return true;
}

}  // namespace

constinit std::atomic<Number*> process_number = &in_kept_memory;

ProcessMark::ProcessMark() {
  [[maybe_unused]] static const bool is_prepared = prepare();
  Number& number = *process_number.load();
  std::uint32_t none = 0;
  if (number.load() == 0) number.compare_exchange_strong(none, count.fetch_add(1) + 1);
  number_ = number.load();
}

}  // namespace headrace
