#include "trace/patch.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "base/small_file.h"
#include "base/task_directory.h"

namespace headrace::trace {
namespace {

constexpr std::uint32_t kJumpSize = 5;
constexpr std::uintptr_t kReach = (std::uintptr_t{1} << 31) - (std::uintptr_t{1} << 24);

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// What is mapped, lowest first.
std::vector<Mapping> mappings() {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  const std::string text = read_small_file("/proc/self/maps", kMost);
  std::vector<Mapping> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const char* const last = text.data() + end;
    Mapping one;
    const auto begin = std::from_chars(text.data() + at, last, one.begin, 16);
    if (begin.ec == std::errc() && begin.ptr != last &&
        std::from_chars(begin.ptr + 1, last, one.end, 16).ec == std::errc()) {
      found.push_back(one);
    }
    at = end + 1;
  }
  return found;
}

bool is_near(std::uintptr_t one, std::uintptr_t other) {
  return (one > other ? one - other : other - one) < kReach;
}

/// A page that a jump at `address` reaches; null if there is none.
unsigned char* map_near(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto try_at = [&](std::uintptr_t place) -> unsigned char* {
    if (!is_near(place, address)) return nullptr;
    void* const memory = ::mmap(reinterpret_cast<void*>(place), page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    if (memory == reinterpret_cast<void*>(place)) return static_cast<unsigned char*>(memory);
    ::munmap(memory, page);  // kernels before 4.17 take the address for advice
    return nullptr;
  };
  // Below the heap of a program there may be room only before its first mapping.
  std::uintptr_t before = page * 16;
  for (const Mapping& one : mappings()) {
    if (one.begin >= before + page) {
      for (const std::uintptr_t place : {one.begin - page, before}) {
        if (unsigned char* const made = try_at(place)) return made;
      }
    }
    before = std::max(before, one.end);
  }
  return nullptr;
}

class Code {
 public:
  explicit Code(unsigned char* at) : at_(at) {}
  void add(std::span<const unsigned char> bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  /// jmp *0(%rip), and the address behind it.
  void jump(const void* target) {
    constexpr std::array<unsigned char, 6> kJump = {0xff, 0x25, 0, 0, 0, 0};
    add(kJump);
    std::memcpy(at_, &target, sizeof target);
    at_ += sizeof target;
  }
  const unsigned char* here() const { return at_; }

 private:
  unsigned char* at_;
};

bool protect(const void* at, std::size_t size, int protection) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(at) + size;
  return ::mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

std::string refused(const char* what) {
  return std::string("the system refuses ") + what + ": " + std::strerror(errno);
}

/// Whether a thread waits in the kernel, or has ended. /proc/self/task/ID/syscall begins with the
/// number of the call then.
bool waits(pid_t id) {
  constexpr std::size_t kMost = 256;
  const std::string folder = "/proc/self/task/" + std::to_string(id);
  const std::string where = read_small_file((folder + "/syscall").c_str(), kMost);
  if (where.empty()) return ::access(folder.c_str(), F_OK) != 0;
  return std::isdigit(static_cast<unsigned char>(where[0])) != 0;
}

/// Whether no other thread runs now: one that does might be within the instructions that change.
/// Those that wait in the kernel are not.
bool others_wait() {
  constexpr int kTries = 500;  // on a busy machine a thread waits long for a core
  constexpr std::chrono::milliseconds kPause{1};
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  TaskDirectory tasks;
  for (int i = 0; i < kTries; ++i) {
    const std::vector<pid_t> threads = tasks.list();
    if (std::ranges::all_of(threads, [&](pid_t id) { return id == self || waits(id); })) {
      return !threads.empty();
    }
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

/// Whether the bytes are nops as compilers leave them: of one byte, or longer ones.
bool are_nops(std::span<const unsigned char> bytes) {
  constexpr std::string_view kLonger[] = {
      {"\x66\x90", 2},
      {"\x0f\x1f\x00", 3},
      {"\x0f\x1f\x40\x00", 4},
      {"\x0f\x1f\x44\x00\x00", 5},
      {"\x66\x0f\x1f\x44\x00\x00", 6},
      {"\x0f\x1f\x80\x00\x00\x00\x00", 7},
      {"\x0f\x1f\x84\x00\x00\x00\x00\x00", 8},
      {"\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", 9},
  };
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!rest.empty()) {
    std::size_t size = rest.front() == '\x90' ? 1 : 0;
    for (const std::string_view nop : kLonger) size = rest.starts_with(nop) ? nop.size() : size;
    if (size == 0) return false;
    rest.remove_prefix(size);
  }
  return true;
}

/// An island whose first code is `moved` and a jump to `behind`, if there is any; then the jump to
/// the stub. Returns where the latter lies.
const unsigned char* make_island(unsigned char* island, std::span<const unsigned char> moved,
                                 const void* behind, const void* stub) {
  Code code(island);
  if (!moved.empty()) {
    code.add(moved);
    code.jump(behind);
  }
  const unsigned char* const door = code.here();
  code.jump(stub);
  return door;
}

Patch prepare(void* entry, std::span<const unsigned char> moved, const void* behind,
              const void* stub) {
  // A page for each: while one is written, the others are run.
  unsigned char* const island = map_near(reinterpret_cast<std::uintptr_t>(entry));
  if (island == nullptr) return {entry, nullptr, nullptr, "there is no free memory near it"};
  const unsigned char* const door = make_island(island, moved, behind, stub);
  if (!protect(island, 1, PROT_READ | PROT_EXEC)) {
    return {entry, nullptr, nullptr, refused("memory for code")};
  }
  return {entry, door, moved.empty() ? behind : island, {}};
}

void write_jump(const Patch& patch) {
  const auto address = reinterpret_cast<std::intptr_t>(patch.entry);
  const auto distance = static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(patch.door) -
                                                  address - std::intptr_t{kJumpSize});
  std::array<unsigned char, kJumpSize> jump = {0xe9};
  std::memcpy(jump.data() + 1, &distance, sizeof distance);
  std::memcpy(patch.entry, jump.data(), kJumpSize);
}

constexpr const char* kOtherCode = "there are other instructions than the plan says";

}  // namespace

Patch prepare_nops(void* entry, std::uint32_t length, const void* stub) {
  const auto* const bytes = static_cast<const unsigned char*>(entry);
  if (length < kJumpSize || !are_nops({bytes, length}))
    return {entry, nullptr, nullptr, kOtherCode};
  return prepare(entry, {}, bytes + length, stub);
}

Patch prepare_prologue(void* entry, std::span<const unsigned char> moved, const void* stub) {
  const auto* const bytes = static_cast<const unsigned char*>(entry);
  if (moved.size() < kJumpSize || !std::ranges::equal(moved, std::span(bytes, moved.size()))) {
    return {entry, nullptr, nullptr, kOtherCode};
  }
  return prepare(entry, moved, bytes + moved.size(), stub);
}

void apply(std::span<Patch> patches) {
  for (Patch& one : patches) {
    if (!protect(one.entry, kJumpSize, PROT_READ | PROT_WRITE | PROT_EXEC)) {
      one.refusal = refused("to let its code be written");
    }
  }
  const bool can_write = patches.empty() || others_wait();
  for (Patch& one : patches) {
    if (one.refusal.empty() && can_write) {
      write_jump(one);
    } else if (one.refusal.empty()) {
      one.refusal = "other threads run at MPI_Init";
    }
  }
  for (const Patch& one : patches) protect(one.entry, kJumpSize, PROT_READ | PROT_EXEC);
}

}  // namespace headrace::trace
