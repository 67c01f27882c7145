// What finding the call path of an MPI call takes. Without an MPI.
//
//   call_path [ROUNDS]
#include <alloca.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "record/call_path.h"

namespace {

using headrace::record::CallPaths;
using headrace::record::PathEnd;
using headrace::record::PathId;

class CountingStore : public headrace::record::PathStore {
 public:
  PathId add(PathId, std::uintptr_t) noexcept override { return next_++; }

 private:
  PathId next_ = 0;
};

constexpr int kCalls = 64;
constexpr int kRepetitions = 300;  // the least counts, so that a busy machine disturbs little
CallPaths* paths = nullptr;

[[gnu::noipa]] void call_without() {
  asm volatile("" : : "r"(__builtin_frame_address(0)) : "memory");
}

[[gnu::noipa]] void call_with() {
  const auto* slot = static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1;
  asm volatile("" : : "r"(paths->find(slot, 0).rows) : "memory");
}

/// Calls at the end of `levels` frames of two call sites each.
template <void (*kCall)()>
[[gnu::noipa]] void descend(unsigned way, int levels) {
  if (levels == 0) {
    for (int i = 0; i < kCalls; ++i) kCall();
    asm volatile("");
  } else if ((way & 1) != 0) {
    descend<kCall>(way >> 1, levels - 1);
    asm volatile("nop");
  } else {
    descend<kCall>(way >> 1, levels - 1);
    asm volatile("");
  }
}

/// One call at the end of them.
template <void (*kCall)()>
[[gnu::noipa]] void descend_once(unsigned way, int levels) {
  if (levels == 0) {
    kCall();
    asm volatile("");
  } else if ((way & 1) != 0) {
    descend_once<kCall>(way >> 1, levels - 1);
    asm volatile("nop");
  } else {
    descend_once<kCall>(way >> 1, levels - 1);
    asm volatile("");
  }
}

template <void (*kCall)()>
[[gnu::noipa]] void descend_sized(std::size_t size) {
  asm volatile("" : : "r"(alloca(size)) : "memory");
  kCall();
  asm volatile("");
}

template <class Call>
double nanoseconds(long rounds, Call call) {
  double least = 1e30;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < rounds; ++i) call(static_cast<unsigned>(i));
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    least = std::min(least, taken.count() / static_cast<double>(rounds));
  }
  return least;
}

unsigned scattered(unsigned i, unsigned count) {
  return (i * 2654435761U >> 16) % count;
}

void print(const char* what, double with, double without, int calls) {
  std::printf("%-42s %6.2f ns\n", what, (with - without) / calls);
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 1000;
  CountingStore store;
  CallPaths found(store, {}, nullptr);
  paths = &found;
  print("one path of 8 frames", nanoseconds(rounds, [](unsigned) { descend<call_with>(0, 8); }),
        nanoseconds(rounds, [](unsigned) { descend<call_without>(0, 8); }), kCalls);
  for (const unsigned count : {1U, 2U, 8U, 64U}) {
    char what[64];
    std::snprintf(what, sizeof what, "%u paths through one site, in turn", count);
    print(what, nanoseconds(rounds, [=](unsigned i) { descend_once<call_with>(i % count, 6); }),
          nanoseconds(rounds, [=](unsigned i) { descend_once<call_without>(i % count, 6); }), 1);
    std::snprintf(what, sizeof what, "%u paths through one site, scattered", count);
    print(what,
          nanoseconds(rounds, [=](unsigned i) { descend_once<call_with>(scattered(i, count), 6); }),
          nanoseconds(rounds,
                      [=](unsigned i) { descend_once<call_without>(scattered(i, count), 6); }),
          1);
  }
  print(
      "a frame of 16 sizes, scattered",
      nanoseconds(rounds, [](unsigned i) { descend_sized<call_with>(16 + scattered(i, 16) * 64); }),
      nanoseconds(rounds,
                  [](unsigned i) { descend_sized<call_without>(16 + scattered(i, 16) * 64); }),
      1);
  const CallPaths::Counts counts = found.counts();
  std::printf(
      "%llu hits, %llu unwound, %llu checked, %llu wrong, %llu folded\n",
      static_cast<unsigned long long>(counts.hits), static_cast<unsigned long long>(counts.unwinds),
      static_cast<unsigned long long>(counts.checks), static_cast<unsigned long long>(counts.wrong),
      static_cast<unsigned long long>(counts.folded));
  return EXIT_SUCCESS;
}
