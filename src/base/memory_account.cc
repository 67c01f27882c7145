#include "base/memory_account.h"

#include <atomic>

namespace headrace {
namespace {

struct Account {
  std::atomic<ByteCount> now = 0;
  std::atomic<ByteCount> peak = 0;
};

// Without constructors or destructors: used before main and during exit.
constinit std::array<Account, kMemoryUses> accounts;

Account& account_of(MemoryUse use) {
  return accounts[static_cast<std::size_t>(use)];
}

void raise_peak(Account& account, ByteCount now) {
  ByteCount peak = account.peak.load(std::memory_order_relaxed);
  while (peak < now && !account.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

void take_memory(MemoryUse use, ByteCount bytes) {
  Account& account = account_of(use);
  raise_peak(account, account.now.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

bool take_memory_within(MemoryUse use, ByteCount bytes, ByteCount limit) {
  Account& account = account_of(use);
  ByteCount now = account.now.load(std::memory_order_relaxed);
  do {
    if (bytes > limit - now) return false;
  } while (!account.now.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  raise_peak(account, now + bytes);
  return true;
}

void give_memory_back(MemoryUse use, ByteCount bytes) {
  account_of(use).now.fetch_sub(bytes, std::memory_order_relaxed);
}

MemoryTaken memory_taken(MemoryUse use) {
  const Account& account = account_of(use);
  return {account.now.load(std::memory_order_relaxed),
          account.peak.load(std::memory_order_relaxed)};
}

MemoryPeaks memory_peaks() {
  MemoryPeaks peaks{};
  for (std::size_t i = 0; i < kMemoryUses; ++i) {
    peaks[i] = memory_taken(static_cast<MemoryUse>(i)).peak;
  }
  return peaks;
}

}  // namespace headrace
