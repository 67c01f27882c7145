#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collective/ranks.h"
#include "fabric/team.h"
#include "sim/mailbox.h"

/// The ranks of a communicator, as threads, on nodes that share memory.
namespace headrace::collective {

template <class Messenger = sim::MailboxMessenger>
std::shared_ptr<fabric::Team> make_team(sim::PostOffice& office, int rank,
                                        const std::string& node) {
  auto team = fabric::Team::create(std::make_unique<Messenger>(office, rank), node, {});
  return std::move(team.value());
}

/// Calls `body(rank, made)` on each rank; `made` is a Result.
template <class Messenger = sim::MailboxMessenger, class Body>
void make_ranks(const std::vector<std::string>& nodes, const std::optional<Measured>& measured,
                Body body) {
  sim::PostOffice office(static_cast<int>(nodes.size()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < office.ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      const std::string& node = nodes[static_cast<std::size_t>(rank)];
      body(rank, Ranks::create(make_team<Messenger>(office, rank, node), measured));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Calls `body(rank, ranks)` on each.
template <class Messenger = sim::MailboxMessenger, class Body>
void run_ranks(const std::vector<std::string>& nodes, Body body,
               const std::optional<Measured>& measured = std::nullopt) {
  make_ranks<Messenger>(nodes, measured, [&](int rank, auto made) {
    ASSERT_TRUE(made) << made.error().message;
    body(rank, *made.value());
  });
}

/// Adds up numbers of 64 bits.
inline void add(const void*, const std::byte* from, std::byte* into, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(std::int64_t)) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::memcpy(&a, into + i, sizeof a);
    std::memcpy(&b, from + i, sizeof b);
    a += b;
    std::memcpy(into + i, &a, sizeof a);
  }
}

/// Of all ranks' numbers.
inline Call sum_call(std::size_t numbers) {
  Call call;
  call.operation = Operation::allreduce;
  call.element = sizeof(std::int64_t);
  call.bytes = numbers * sizeof(std::int64_t);
  return call;
}

inline Call gather_call(std::size_t numbers) {
  Call call;
  call.operation = Operation::allgather;
  call.bytes = call.blocks.size = call.blocks.distance = numbers * sizeof(std::int64_t);
  return call;
}

inline Ranks::Outcome run(Ranks& ranks, const Call& call, const void* send, void* receive,
                          Ranks::Ending& ending) {
  EXPECT_NE(ranks.prepare(call).algorithm, nullptr) << ranks.prepare(call).obstacle;
  return ranks.run(call, {static_cast<const std::byte*>(send), static_cast<std::byte*>(receive)},
                   {&add, nullptr}, ending);
}
inline Ranks::Outcome run(Ranks& ranks, const Call& call, const void* send, void* receive) {
  Ranks::Ending ending;
  return run(ranks, call, send, receive, ending);
}

}  // namespace headrace::collective
