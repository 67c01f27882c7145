#include "faults/rank.h"

#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/memory_account.h"
#include "base/settings.h"
#include "exchange/file_channel.h"

namespace headrace::faults {
namespace {

/// A node's slots may be used again when all files are closed.
constexpr std::size_t kPage = 4096;

}  // namespace

template <class Call>
Error Rank::in_engine(Call call) {
  try {
    const InEngine inside(rank_);
    return call();
  } catch (const std::bad_alloc&) {
    return {ErrorClass::no_memory, 0, {}};
  }
}

Error Rank::join(std::unique_ptr<fabric::Messenger> messenger) {
  const std::string& node = script_.nodes[static_cast<std::size_t>(rank_)];
  return in_engine([&]() -> Error {
    Result<std::shared_ptr<exchange::FileTeam>> team =
        exchange::FileTeam::create(std::move(messenger), node);
    if (!team) return team.error();
    team_ = std::move(team.value());
    return {};
  });
}

Got Rank::open() {
  Got got;
  got.error = in_engine([&]() -> Error {
    auto opened =
        file::File::open(team_, world_.files(rank_), kFileName, script_.mode, script_.hints);
    if (!opened) return opened.error();
    file_ = std::move(opened.value());
    return {};
  });
  return got;
}

Got Rank::close() {
  Got got;
  got.error = in_engine([&] { return file_->close(); });
  const InEngine inside(rank_);
  file_.reset();
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

Got Rank::set_view(const Step& step) {
  Got got;
  Result<file::View> view = step.views[static_cast<std::size_t>(rank_)].view();
  if (is_invalid(step)) view = Error{ErrorClass::type, 0, "wrong"};
  got.error = in_engine([&] { return file_->set_view(view, {}); });
  return got;
}

Got Rank::take(const Step& step) {
  Got got;
  switch (step.kind) {
    case StepKind::transfer: return transfer(step);
    case StepKind::set_view: return set_view(step);
    case StepKind::sync: got.error = in_engine([&] { return file_->sync(); }); break;
    case StepKind::resize:
    case StepKind::allocate: {
      const ByteCount size = is_invalid(step) ? -1 : step.size;
      got.error = in_engine([&] {
        return step.kind == StepKind::resize ? file_->resize(size) : file_->allocate(size);
      });
      break;
    }
    case StepKind::get_size:
      got.error = in_engine([&]() -> Error {
        const Result<ByteCount> size = file_->size();
        if (!size) return size.error();
        got.value = size.value();
        return {};
      });
      break;
    case StepKind::set_atomicity:
      got.error = in_engine([&] { return file_->set_atomicity(step.atomic != is_invalid(step)); });
      break;
    case StepKind::seek_shared:
      got.error = in_engine([&] {
        return file_->positions().seek_shared(step.size + (is_invalid(step) ? 1 : 0),
                                              file::Whence::set);
      });
      break;
  }
  return got;
}

/// Negative where the node that has it cannot be asked: then no call can be made by it.
std::int64_t Rank::shared_position() {
  const Result<std::int64_t> position = file_->positions().shared();
  return position ? position.value() : -1;
}

Got Rank::transfer(const Step& step) {
  const Request& request = step.requests[static_cast<std::size_t>(rank_)];
  const std::int64_t unit = file_->current_view().etype->size();
  Got got;
  got.buffer = request.buffer;
  file::TransferCall call =
      sim::call_of(step.direction, step.collective, request, got.buffer.data());
  if (is_invalid(step)) call.count = -1;
  if (step.positioning != Positioning::explicit_offset) call.offset.reset();
  call.shared = step.positioning == Positioning::shared;
  if (call.shared && !step.collective) {
    // One after the other, so that each knows where it begins.
    for (int turn = 0; turn < script_.ranks(); ++turn) {
      if (turn == rank_) {
        got.position = shared_position() * unit;
        carry_out(step, call, got);
      }
      meeting_.arrive_and_wait();
    }
    return got;
  }
  got.position = step.positioning == Positioning::pointer
                     ? file_->positions().individual().value() * unit
                     : request.offset.value_or(0) * unit;
  if (call.shared) {
    // The first rank's memory has it.
    if (rank_ == 0) got.position = shared_position() * unit;
    meeting_.arrive_and_wait();
  }
  carry_out(step, call, got);
  return got;
}

void Rank::carry_out(const Step& step, const file::TransferCall& call, Got& got) {
  file::Outcome outcome;
  std::shared_ptr<file::Operation> operation;
  outcome.error = in_engine([&]() -> Error {
    if (step.style == Style::blocking) {
      outcome = file_->transfer(call);
      return std::move(outcome.error);
    }
    if (step.style == Style::split) {
      if (Error error = file_->begin(call)) return error;
      outcome = file_->end(call.direction, call.shared, call.offset.has_value());
      return std::move(outcome.error);
    }
    Result<std::shared_ptr<file::Operation>> started = file_->start(call);
    if (!started) return started.error();
    operation = std::move(started.value());
    return {};
  });
  if (operation && step.style == Style::unwaited) {
    while (!operation->is_done()) std::this_thread::yield();
    got.is_unknown = true;
  } else if (operation) {
    outcome.error = in_engine([&] {
      outcome = operation->wait();
      return outcome.error;
    });
  }
  got.bytes = outcome.bytes;
  got.error = std::move(outcome.error);
  got.pointer = file_->positions().individual().value();
  const std::string taken =
      step.direction == Direction::write ? "headrace_write_taken" : "headrace_read_taken";
  got.is_staged = step.collective && file_->hints().at(taken) != "direct";
}

}  // namespace headrace::faults
