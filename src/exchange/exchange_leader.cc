#include "exchange/exchange_leader.h"

#include <sched.h>

namespace headrace::exchange {

ExchangeLeader::ExchangeLeader(const LeaderCall& lead, std::span<MessageBuffers::Buffer> received)
    : lead_(lead),
      call_(lead.call),
      messenger_(lead.call.channel.messenger()),
      sources_(lead.buffers.cleared_sources()),
      received_(received) {
  for (int node = 0; node < lead.plan.nodes(); ++node) {
    if (node == me()) continue;
    Source source{.node = node, .rank = call_.channel.nodes().rank_at(node, lead.leader)};
    advance(source, 0);
    if (source.next < 0) continue;
    source.last = lead.plan.last(node, me(), lead.leader);
    sources_.push_back(source);
  }
}

void ExchangeLeader::advance(Source& source, std::int64_t window) const {
  source.next = lead_.plan.next(source.node, me(), window, lead_.leader);
  source.joined = source.next < 0 ? -1 : lead_.plan.joined_with(source.node, source.next);
}

WindowMemory ExchangeLeader::memory_of(std::int64_t window) const {
  call_.slots.map(number_of(window));
  return {call_.slots.bytes(number_of(window)), range(window).begin, call_.window_size,
          call_.granule_shift};
}

std::int64_t ExchangeLeader::next_own(std::int64_t window) const {
  while (window < count() && (lead_.plan.owner_of(window) != me() || !is_mine(window))) ++window;
  return window;
}

void ExchangeLeader::pass_on(std::int64_t window) {
  call_.slots.pass_on(number_of(window));
  call_.event().signal();
}

MessageBuffers::Buffer* ExchangeLeader::free_one(std::span<MessageBuffers::Buffer> buffers) {
  const auto found = std::ranges::find(buffers, true, &MessageBuffers::Buffer::is_free);
  return found == buffers.end() ? nullptr : &*found;
}

void ExchangeLeader::send(FileChannel::MessageKind kind, int node, MessageBuffers::Buffer& buffer,
                          std::size_t size) {
  const record::InPhase phase(record::Phase::send);
  if (messenger_.start_send(*buffer.message, call_.channel.tag_of(kind),
                            call_.channel.nodes().rank_at(node, lead_.leader),
                            buffer.room.first(size))) {
    return fail();
  }
  buffer.is_free = false;
  lead_.buffers.sent().add(1, size);
}

bool ExchangeLeader::reap_sends() {
  const record::InPhase phase(record::Phase::send);
  bool reaped = false;
  for (MessageBuffers::Buffer& buffer : lead_.buffers.outgoing()) {
    if (buffer.is_free) continue;
    const auto done = buffer.message->is_done();
    if (!done) return fail(), false;
    if (!done.value()) continue;
    buffer.is_free = true;
    reaped = true;
  }
  return reaped;
}

bool ExchangeLeader::has_sends() const {
  return std::ranges::any_of(lead_.buffers.outgoing(),
                             [](const auto& buffer) { return !buffer.is_free; });
}

bool ExchangeLeader::is_first(const Incoming& incoming) const {
  return std::ranges::none_of(receiving_, [&](const Receiving& one) {
    return one.window >= 0 && one.node == incoming.node && one.window < incoming.window;
  });
}

void ExchangeLeader::rest(std::uint32_t seen) {
  // At first it only yields the core: the peer is often the next to run there. If ranks take turns
  // on cores, it sleeps sooner.
  constexpr int kYields = 200;
  constexpr int kYieldsIfCrowded = 20;
  constexpr std::int64_t kShortest = 20'000;  // nanoseconds
  const record::InPhase phase(record::Phase::wait);
  const int yields = call_.waiter.spins > 0 ? kYields : kYieldsIfCrowded;
  constexpr int kDoublings = 5;
  if (idle_++ < yields) {
    ::sched_yield();
    return;
  }
  call_.event().wait_for_change(seen, kShortest << std::min(idle_ - yields - 1, kDoublings));
  messenger_.progress();
}

void ExchangeLeader::end(const WriteStop& stop) {
  call_.staging().next.store(lead_.first_window + count(), std::memory_order_release);
  ExchangeEnd& end = call_.end(lead_.leader);
  end.stop = stop;
  end.round.store(call_.round(), std::memory_order_release);
  call_.event().signal();
}

}  // namespace headrace::exchange
