#include "fuzz/sim/actor.h"

#include <thread>
#include <utility>

#include "steps/engine/make_type.h"

namespace headrace::fuzz {
namespace {

file::Whence whence_of(Whence whence) {
  switch (whence) {
    case Whence::set: return file::Whence::set;
    case Whence::current: return file::Whence::current;
    default: return file::Whence::end;
  }
}

file::AccessMode mode_of(const Mode& mode) {
  return {.read = mode.read,
          .write = mode.write,
          .create = mode.create,
          .exclusive = mode.exclusive,
          .append = mode.append,
          .sequential = mode.sequential,
          .delete_on_close = mode.delete_on_close,
          .unique_open = mode.unique_open};
}

Direction direction_of(const Step& step) {
  return step.is_write ? Direction::write : Direction::read;
}

}  // namespace

void Record::saw(int rank, int step, Seen seen) {
  const std::lock_guard lock(mutex_);
  observations_.of_rank[static_cast<std::size_t>(rank)][step] = std::move(seen);
}

void Record::look(const std::string& file, int step, Look content) {
  const std::lock_guard lock(mutex_);
  observations_.looks[{file, step}] = std::move(content);
}

void Record::problem(const std::string& text) {
  const std::lock_guard lock(mutex_);
  observations_.problems.push_back(text);
}

Actor::Actor(const Program& program, const Group& group, int rank,
             std::shared_ptr<exchange::FileTeam> team,
             std::shared_ptr<exchange::FileTeam> next_team, Files& files, std::barrier<>& barrier,
             Record& record)
    : program_(program),
      group_(group),
      rank_(rank),
      team_(std::move(team)),
      next_team_(std::move(next_team)),
      files_(files),
      barrier_(barrier),
      record_(record) {}

void Actor::open() {
  const File& file = program_.files[static_cast<std::size_t>(group_.file)];
  open_as(file.mode, file.hints);
}

void Actor::open_as(const Mode& mode, const Hints& hints) {
  Result<std::unique_ptr<file::File>> file =
      file::File::open(team_, files_.file_system(rank_), group_.name, mode_of(mode), hints);
  if (!file) return record_.problem("open: " + file.error().message);
  file_ = std::move(file.value());
}

void Actor::close() {
  if (!file_) return;
  if (const Error error = file_->close()) record_.problem("close: " + error.message);
  file_.reset();
}

void Actor::take(const Step& step) {
  // Without a file the rank still meets the others.
  if (step.kind == StepKind::meet) return meet(step);
  if (step.kind == StepKind::reopen) return reopen(step);
  if (!file_ || !part(step).takes_part) return;
  switch (step.kind) {
    case StepKind::access: return access(step);
    case StepKind::wait: return wait(step);
    case StepKind::end: return end(step);
    case StepKind::seek:
    case StepKind::shared_position:
    case StepKind::byte_offset:
    case StepKind::get_size: return query(step);
    default: return together(step);
  }
}

void Actor::saw(const Step& step, const Error& error, Seen seen) {
  seen.error = error_name(error.error_class);
  seen.message = error.message;
  if (file_ && !file_->access_mode().sequential) seen.position = file_->position();
  record_.saw(rank_, step.id, std::move(seen));
}

file::TransferCall Actor::call_of(const Step& step, Memory& memory) const {
  const Part& mine = part(step);
  file::TransferCall call;
  call.direction = direction_of(step);
  call.collective = step.is_collective;
  if (step.positioning == Positioning::explicit_offset) call.offset = mine.offset;
  call.shared = step.positioning == Positioning::shared;
  call.buffer = memory.bytes.data() + memory.origin;
  call.count = mine.count;
  call.type = make_type(mine.memory);
  if (mine.absolute) {
    const std::int64_t address[] = {reinterpret_cast<std::int64_t>(call.buffer)};
    const view::TypePtr old = call.type;
    call.buffer = nullptr;
    call.type = view::make_resized(view::make_hindexed_block(1, address, old),
                                   old->lower_bound() + address[0], old->extent());
  }
  return call;
}

void Actor::access(const Step& step) {
  Pending pending{nullptr, make_memory(program_, step, rank_), {}};
  const file::TransferCall call = call_of(step, pending.memory);
  file::Outcome outcome;
  if (step.style == Style::nonblocking) {
    Result<std::shared_ptr<file::Operation>> started = file_->start(call);
    if (started)
      pending.operation = std::move(started.value());
    else
      outcome.error = started.error();
  } else if (step.style == Style::split) {
    outcome.error = file_->begin(call);
    if (!outcome.error) split_ = &step;
  } else {
    outcome = file_->transfer(call);
  }
  const bool goes_on = step.style != Style::blocking && !outcome.error;
  if (!file_->access_mode().sequential) pending.seen.position = file_->position();
  if (goes_on) {
    pending_[step.id] = std::move(pending);
  } else {
    finish(step.id, std::move(pending), outcome);
  }
}

void Actor::finish(int id, Pending pending, const file::Outcome& outcome) {
  Seen& seen = pending.seen;
  seen.error = error_name(outcome.error.error_class);
  seen.message = outcome.error.message;
  seen.bytes = outcome.bytes;
  seen.memory = std::move(pending.memory.bytes);
  record_.saw(rank_, id, std::move(seen));
}

void Actor::wait(const Step& step) {
  for (const int id : part(step).waits) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) continue;  // its start failed, which was recorded
    file::Operation& operation = *found->second.operation;
    if (step.cancels) found->second.seen.cancelled = operation.cancel();
    if (step.completion != Completion::wait && step.completion != Completion::waitall) {
      while (!operation.is_done()) std::this_thread::yield();
    }
    const file::Outcome outcome = operation.wait();
    finish(id, std::move(found->second), outcome);
    pending_.erase(id);
  }
  saw(step, {});
}

void Actor::end(const Step& step) {
  const file::Outcome outcome =
      file_->end(direction_of(step), step.positioning == Positioning::shared,
                 step.positioning == Positioning::explicit_offset);
  const bool matches = split_ != nullptr && split_->is_write == step.is_write &&
                       split_->positioning == step.positioning;
  if (!matches) return saw(step, outcome.error);
  finish(split_->id, std::move(pending_[split_->id]), outcome);
  pending_.erase(split_->id);
  split_ = nullptr;
  saw(step, {});
}

void Actor::query(const Step& step) {
  const std::int64_t offset = part(step).offset;
  if (step.kind == StepKind::seek) return saw(step, file_->seek(offset, whence_of(step.whence)));
  Result<std::int64_t> result = step.kind == StepKind::shared_position ? file_->shared_position()
                                : step.kind == StepKind::byte_offset   ? file_->byte_offset(offset)
                                                                       : file_->size();
  Seen seen;
  if (result) seen.value = result.value();
  saw(step, result ? Error{} : result.error(), std::move(seen));
}

void Actor::together(const Step& step) {
  switch (step.kind) {
    case StepKind::set_view: return set_view(step);
    case StepKind::set_size: return saw(step, file_->resize(step.value));
    case StepKind::preallocate: return saw(step, file_->allocate(step.value));
    case StepKind::set_hints: return saw(step, file_->set_hints(step.hints));
    case StepKind::set_atomicity: return saw(step, file_->set_atomicity(step.atomic));
    case StepKind::seek_shared:
      return saw(step, file_->seek_shared(step.value, whence_of(step.whence)));
    default: return saw(step, file_->sync());
  }
}

void Actor::set_view(const Step& step) {
  const View& view = part(step).view;
  file::View made{.displacement = view.displacement,
                  .etype = make_type(view.etype),
                  .filetype = make_type(view.filetype)};
  made.from_shared_pointer = view.current;
  saw(step, file_->set_view(std::move(made), step.hints));
}

void Actor::meet(const Step& step) {
  Error error;
  const bool syncs = file_ && !file_->atomicity();
  if (syncs) error = file_->sync();
  look(step);
  if (syncs && !error) error = file_->sync();
  saw(step, error);
}

void Actor::look(const Step& step) {
  barrier_.arrive_and_wait();
  if (!step.looks && step.kind != StepKind::reopen) return;
  if (rank_ == group_.ranks.front()) {
    record_.look(group_.name, step.id, files_.look(group_.name));
  }
  barrier_.arrive_and_wait();
}

void Actor::reopen(const Step& step) {
  close();
  look(step);
  team_ = next_team_;
  open_as(step.mode, step.hints);
  saw(step, {});
}

std::string error_name(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::success: return {};
    case ErrorClass::access: return "access";
    case ErrorClass::amode: return "amode";
    case ErrorClass::argument: return "arg";
    case ErrorClass::count: return "count";
    case ErrorClass::io: return "io";
    case ErrorClass::not_same: return "not_same";
    case ErrorClass::read_only: return "read_only";
    case ErrorClass::request: return "request";
    case ErrorClass::type: return "type";
    case ErrorClass::unsupported_operation: return "unsupported_operation";
    default: return "other";
  }
}

}  // namespace headrace::fuzz
