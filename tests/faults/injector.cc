#include "faults/injector.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace headrace::faults {
namespace {

thread_local bool inside = false;
thread_local int thread_rank = -1;

constexpr std::chrono::microseconds kSlow{300};
/// Of all delays of a run: programs of many small pieces make a hundred thousand calls.
constexpr std::int64_t kMaxDelays = 5'000;

}  // namespace

InEngine::InEngine(int rank)
    : rank_before_(std::exchange(thread_rank, rank)), was_inside_(std::exchange(inside, true)) {}
InEngine::~InEngine() {
  inside = was_inside_;
  thread_rank = rank_before_;
}

OutsideEngine::OutsideEngine() : was_inside_(std::exchange(inside, false)) {}
OutsideEngine::~OutsideEngine() {
  inside = was_inside_;
}

bool is_in_engine() {
  return inside;
}

int rank_of_thread() {
  return thread_rank;
}

Injector& Injector::instance() {
  static auto* const injector = new Injector;
  return *injector;
}

void Injector::arm(std::vector<Fault> faults) {
  const std::lock_guard lock(mutex_);
  armed_.clear();
  for (const Fault& fault : faults) armed_.push_back({fault});
  struck_.clear();
  delays_ = 0;
  is_active_ = true;
}

std::vector<bool> Injector::disarm() {
  is_active_ = false;
  const std::lock_guard lock(mutex_);
  std::vector<bool> struck;
  for (const Armed& armed : armed_) struck.push_back(armed.has_struck);
  armed_.clear();
  return struck;
}

bool Injector::hits(Armed& armed, int rank) {
  const std::int64_t number = armed.seen++;
  const Fault& fault = armed.fault;
  if (number < fault.nth) return false;
  if (number == fault.nth) {
    armed.rank = rank;
    return true;
  }
  if (fault.scope == Scope::once) return false;
  if (fault.scope == Scope::one_rank && rank != armed.rank) return false;
  return true;
}

std::optional<Strike> Injector::strike(Operation operation, int rank, ByteCount len) {
  if (!is_active_) return std::nullopt;
  const OutsideEngine outside;
  std::optional<Strike> strike;
  {
    const std::lock_guard lock(mutex_);
    const bool was_interrupted = std::exchange(interrupted_[{operation, rank}], false);
    for (Armed& armed : armed_) {
      if (armed.fault.operation != operation || !hits(armed, rank) || strike) continue;
      const Kind kind = armed.fault.kind;
      // What is shortened moves one byte at least, and misses one.
      const ByteCount least = kind == Kind::shortened ? 1 : 0;
      // A call that is interrupted each time would never end.
      if (kind == Kind::eintr && was_interrupted) continue;
      if (kind == Kind::shortened && len < 2) continue;
      const ByteCount bytes = std::clamp<ByteCount>(
          len / 256 * armed.fault.moved_share + len % 256 * armed.fault.moved_share / 256, least,
          std::max<ByteCount>(len - 1, 0));
      armed.has_struck = true;
      if (kind == Kind::slow && delays_++ >= kMaxDelays) continue;
      strike = Strike{kind, errno_of(kind), bytes};
      interrupted_[{operation, rank}] = kind == Kind::eintr;
      struck_.push_back({operation, kind, rank});
    }
  }
  if (strike && strike->kind == Kind::slow) {
    std::this_thread::sleep_for(kSlow);
    return std::nullopt;
  }
  return strike;
}

std::vector<Struck> Injector::take_struck() {
  const std::lock_guard lock(mutex_);
  return std::exchange(struck_, {});
}

}  // namespace headrace::faults
