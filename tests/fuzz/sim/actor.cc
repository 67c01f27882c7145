#include "fuzz/sim/actor.h"

#include <utility>

namespace headrace::fuzz {
namespace {

/// MPI's name of an error class in small letters, without MPI_ERR_; empty for success.
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
    case ErrorClass::truncated: return "truncated";
    case ErrorClass::type: return "type";
    case ErrorClass::unsupported_operation: return "unsupported_operation";
    default: return "other";
  }
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
      record_(record),
      driver_(program.seed, rank) {}

void Actor::open() {
  const File& file = program_.files[static_cast<std::size_t>(group_.file)];
  open_as(file.mode, file.hints);
}

void Actor::open_as(const Mode& mode, const Hints& hints) {
  const Error error = driver_.open(team_, files_.file_system(rank_), group_.name, mode, hints);
  if (error) record_.problem("open: " + error.message);
}

void Actor::close() {
  if (!driver_.is_open()) return;
  if (const Error error = driver_.close()) record_.problem("close: " + error.message);
}

void Actor::take(const Step& step) {
  // Without a file the rank still meets the others.
  if (step.kind == StepKind::meet) return meet(step);
  if (step.kind == StepKind::reopen) return reopen(step);
  if (!driver_.is_open() || !step.parts[static_cast<std::size_t>(rank_)].takes_part) return;
  for (const auto& [id, got] : driver_.take(step)) saw(id, got);
}

void Actor::saw(int id, const steps::Got& got) {
  record_.saw(rank_, id,
              {.error = error_name(got.error.error_class),
               .message = got.error.message,
               .bytes = got.bytes,
               .memory = got.memory,
               .value = got.value,
               .position = got.position,
               .cancelled = got.cancelled});
}

void Actor::meet(const Step& step) {
  steps::Got got;
  const bool syncs = driver_.is_open() && !driver_.file().atomicity();
  if (syncs) got.error = driver_.file().sync();
  look(step);
  if (syncs && !got.error) got.error = driver_.file().sync();
  got.position = driver_.position();
  saw(step.id, got);
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
  steps::Got got;
  got.position = driver_.position();
  saw(step.id, got);
}

}  // namespace headrace::fuzz
