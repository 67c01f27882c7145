#include "collective/execution.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headrace::collective {
namespace {

constexpr bool is_of_messages(Step::Kind kind) {
  return kind == Step::Kind::send || kind == Step::Kind::receive || kind == Step::Kind::complete;
}

}  // namespace

Execution::State Execution::advance() {
  while (next_ < schedule_.steps.size()) {
    const State state = do_step(schedule_.steps[next_]);
    if (state != State::done) return state;
    ++next_;
  }
  return end();
}

/// What failed on the way is told at the end, so that no other rank waits for this one for ever.
Execution::State Execution::end() {
  Error message = transport_.take_failure();
  Error parcel = parcels_.finish();
  if (message) return fail(std::move(message));
  if (parcel) return fail(std::move(parcel));
  return is_spoilt_ ? fail(sizes_differ()) : State::done;
}

Execution::State Execution::do_step(const Step& step) {
  if (moves_messages_only_ && !is_of_messages(step.kind)) return State::done;
  switch (step.kind) {
    case Step::Kind::claim: return transport_.is_stage_free() ? State::done : State::waits;
    case Step::Kind::copy:
    case Step::Kind::collect:
    case Step::Kind::distribute:
    case Step::Kind::reduce: return move_data(step);
    case Step::Kind::reach:
      transport_.reach(milestone(number_, step.phase), step.audience);
      return State::done;
    case Step::Kind::await_all:
    case Step::Kind::await: return wait_for(step);
    case Step::Kind::send:
    case Step::Kind::receive: return begin_message(step);
    case Step::Kind::complete:
      if (!transport_.has_at_most(0)) return State::waits;
      is_spoilt_ = transport_.is_spoilt();
      return State::done;
    case Step::Kind::parcels: return go_on(parcels_.advance(step));
  }
  return State::done;
}

Execution::State Execution::wait_for(const Step& step) {
  const std::uint64_t number = milestone(number_, step.phase);
  const bool is_all = step.kind == Step::Kind::await_all;
  const bool is_reached =
      is_all ? transport_.have_all_reached(number) : transport_.has_reached(step.peer, number);
  if (!is_reached) return State::waits;
  if (!is_compared_) {
    is_compared_ = true;
    if (!may_go_on(is_all ? transport_.agreement_with_all()
                          : transport_.agreement_with(step.peer))) {
      return State::differs;
    }
  }
  // What other nodes have sent comes by way of one rank.
  if (!is_all && shape_.node_count > 1 && transport_.tells_spoilt(step.peer)) {
    transport_.spoil();
    is_spoilt_ = true;
  }
  return State::done;
}

/// Other nodes do not learn that ranks of this one differ, and so do not leave the call to the
/// library: they get messages without data. With parcels come their sizes.
bool Execution::may_go_on(Agreement agreement) {
  if (agreement == Agreement::same) return true;
  if (agreement == Agreement::other_call || shape_.node_count == 1) return false;
  if (buffers_.parcels != nullptr) return true;
  transport_.spoil();
  is_spoilt_ = true;
  is_at_odds_ = true;
  return true;
}

Execution::State Execution::move_data(const Step& step) const {
  if (is_spoilt_) return State::done;
  if (step.kind == Step::Kind::copy) {
    copy(step);
  } else if (step.kind == Step::Kind::reduce) {
    reduce(step);
  } else {
    arrange(step);
  }
  return State::done;
}

void Execution::copy(const Step& step) const {
  const std::byte* from = this->from(step.from);
  std::byte* to = this->to(step.to);
  for (int i = 0; i < step.count; ++i) {
    if (from != to) std::memcpy(to, from, step.bytes);
    from += step.from_distance;
    to += step.to_distance;
  }
}

void Execution::arrange(const Step& step) const {
  const bool collects = step.kind == Step::Kind::collect;
  const std::byte* from = this->from(step.from);
  std::byte* to = this->to(step.to);
  if (shape_.is_in_order() && blocks_.are_alike() && blocks_.distance == blocks_.size) {
    const std::size_t bytes = blocks_.size * static_cast<std::size_t>(step.count);
    const std::ptrdiff_t begin = blocks_.offset_of(step.place);
    if (bytes > 0) std::memcpy(collects ? to : to + begin, collects ? from + begin : from, bytes);
    return;
  }
  for (int place = step.place; place < step.place + step.count; ++place) {
    const int rank = shape_.rank_at(place);
    const std::size_t bytes = blocks_.size_of(rank);
    const std::ptrdiff_t offset = blocks_.offset_of(rank);
    if (bytes == 0) continue;
    std::memcpy(collects ? to : to + offset, collects ? from + offset : from, bytes);
    (collects ? to : const_cast<std::byte*&>(from)) += bytes;
  }
}

void Execution::reduce(const Step& step) const {
  // Parts that stay in a core's first cache while all ranks' are added.
  constexpr std::size_t kPart = std::size_t{8} << 10;
  const std::byte* const first = from(step.from);
  std::byte* const result = to(step.to);
  for (std::size_t begin = 0; begin < step.bytes; begin += kPart) {
    const std::size_t bytes = std::min(kPart, step.bytes - begin);
    std::memcpy(result + begin, first + begin, bytes);
    for (int i = 1; i < step.count; ++i) {
      const std::size_t other = static_cast<std::size_t>(i) * step.from_distance;
      reduction_.apply(reduction_.context, first + other + begin, result + begin, bytes);
    }
  }
}

Execution::State Execution::begin_message(const Step& step) {
  Error error = step.kind == Step::Kind::send
                    ? transport_.send(step.peer, {from(step.from), is_spoilt_ ? 0 : step.bytes})
                    : transport_.receive_all(step.peer, {to(step.to), step.bytes});
  return error ? fail(std::move(error)) : State::done;
}

Execution::State Execution::go_on(const Result<bool>& is_done) {
  if (!is_done) return fail(is_done.error());
  return is_done.value() ? State::done : State::waits;
}

Execution::State Execution::fail(Error error) {
  error_ = std::move(error);
  return State::failed;
}

const std::byte* Execution::from(Position position) const {
  if (position.area == Area::send) return buffers_.send + position.offset;
  return to(position);
}

std::byte* Execution::to(Position position) const {
  return (position.area == Area::stage ? buffers_.stage : buffers_.receive) + position.offset;
}

}  // namespace headrace::collective
