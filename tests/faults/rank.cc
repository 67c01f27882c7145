#include "faults/rank.h"

#include <mutex>
#include <new>
#include <utility>

#include "base/memory_account.h"
#include "base/settings.h"
#include "exchange/file_channel.h"
#include "faults/injector.h"

namespace headrace::faults {
namespace {

/// A node's slots may be used again when all files are closed.
constexpr std::size_t kPage = 4096;

}  // namespace

Error Rank::call(const std::function<Error()>& calls) {
  try {
    const InEngine inside(rank_);
    return calls();
  } catch (const std::bad_alloc&) {
    return {ErrorClass::no_memory, 0, {}};
  }
}

Error Rank::join(std::unique_ptr<fabric::Messenger> messenger) {
  const std::string& node = script_.nodes[static_cast<std::size_t>(rank_)];
  return call([&]() -> Error {
    Result<std::shared_ptr<exchange::FileTeam>> team =
        exchange::FileTeam::create(std::move(messenger), node);
    if (!team) return team.error();
    team_ = std::move(team.value());
    return {};
  });
}

Got Rank::open() {
  Got got;
  got.error = Driver::open(team_, world_.files(rank_), kFileName, script_.mode, script_.hints);
  return got;
}

Got Rank::close() {
  Got got;
  got.error = Driver::close();
  return got;
}

Error Rank::leave() {
  Error lost;
  {
    Result<std::unique_ptr<exchange::FileChannel>> channel = team_->open_channel();
    if (!channel) {
      lost = channel.error();
    } else if (channel.value()->nodes().is_leader() && channel.value()->nodes().shares_node()) {
      const ByteCount most = buffers_share(settings().node_memory);
      const auto all = static_cast<std::size_t>(most) / kPage * kPage;
      // The budget is the process's, which is all nodes here: one leader at a time.
      static std::mutex alone;
      const std::lock_guard lock(alone);
      const auto slots = channel.value()->memory().reserve(all);
      if (slots) {
        channel.value()->memory().give_back(*slots);
      } else {
        lost = {ErrorClass::no_memory, 0, "slots were not returned"};
      }
    }
  }
  team_.reset();
  return lost;
}

Got Rank::take(const Step& step) {
  return step.kind == StepKind::access ? access(step) : take_from(step, 0);
}

Got Rank::take_from(const Step& step, ByteCount begin) {
  Got got{Driver::take(step).at(step.id), begin};
  if (step.kind == StepKind::access) {
    const std::string taken = step.is_write ? "headrace_write_taken" : "headrace_read_taken";
    got.is_staged = step.is_collective && file().hints().at(taken) != "direct";
  }
  return got;
}

/// Negative where the node that has it cannot be asked: then no call can be made by it.
std::int64_t Rank::shared_position() {
  const Result<std::int64_t> position = file().positions().shared();
  return position ? position.value() : -1;
}

Got Rank::access(const Step& step) {
  const std::int64_t unit = file().current_view().etype->size();
  if (step.positioning != Positioning::shared) {
    const bool is_explicit = step.positioning == Positioning::explicit_offset;
    const std::int64_t offset = step.parts[static_cast<std::size_t>(rank_)].offset;
    return take_from(step, (is_explicit ? offset : file().positions().individual().value()) * unit);
  }
  if (step.is_collective) {
    // The first rank's memory has it.
    const ByteCount begin = rank_ == 0 ? shared_position() * unit : 0;
    meeting_.arrive_and_wait();
    return take_from(step, begin);
  }
  // One after the other, so that each knows where it begins.
  Got got;
  for (int turn = 0; turn < script_.ranks(); ++turn) {
    if (turn == rank_) {
      const ByteCount begin = shared_position() * unit;
      got = take_from(step, begin);
    }
    meeting_.arrive_and_wait();
  }
  return got;
}

}  // namespace headrace::faults
