#include "steps/engine/driver.h"

#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "steps/engine/make_type.h"
#include "support/gpu/fake_driver.h"

namespace headrace::steps {
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

/// Memory that a call is given: its own, or a copy in a device's memory.
class Buffer {
 public:
  Buffer(std::vector<std::uint8_t>& bytes, bool on_device) : bytes_(bytes) {
    if (on_device) device_ = driver().allocate(std::as_bytes(std::span(bytes)));
  }
  std::uint8_t* address() const {
    return device_ == nullptr ? bytes_.data() : reinterpret_cast<std::uint8_t*>(device_);
  }
  void bring_back() {
    if (device_ == nullptr) return;
    const std::vector<std::byte> after = driver().content(device_);
    std::memcpy(bytes_.data(), after.data(), after.size());
    driver().free(std::exchange(device_, nullptr));
  }

 private:
  static device::test::FakeDriver& driver() { return device::test::FakeDriver::installed(); }

  std::vector<std::uint8_t>& bytes_;
  std::byte* device_ = nullptr;
};

}  // namespace

Error Driver::open(const std::shared_ptr<exchange::FileTeam>& team,
                   storage::FileSystem& file_system, const std::string& path, const Mode& mode,
                   const Hints& hints) {
  const file::AccessMode access_mode = mode_of(mode);
  return call([&]() -> Error {
    auto opened = file::File::open(team, file_system, path, access_mode, hints);
    if (!opened) return opened.error();
    file_ = std::move(opened.value());
    return {};
  });
}

Error Driver::close() {
  Error error = call([&] { return file_->close(); });
  static_cast<void>(call([&]() -> Error {
    file_.reset();
    return {};
  }));
  return error;
}

std::map<int, Got> Driver::take(const Step& step) {
  switch (step.kind) {
    case StepKind::access: access(step); break;
    case StepKind::wait: wait(step); break;
    case StepKind::end: end(step); break;
    case StepKind::seek:
    case StepKind::shared_position:
    case StepKind::byte_offset:
    case StepKind::get_size: query(step); break;
    default: together(step);
  }
  return std::exchange(results_, {});
}

std::optional<std::int64_t> Driver::position() const {
  if (!file_) return std::nullopt;
  const Result<std::int64_t> position = file_->positions().individual();
  return position ? std::optional(position.value()) : std::nullopt;
}

void Driver::got(const Step& step, const Error& error, Got result) {
  result.error = error;
  result.position = position();
  results_[step.id] = std::move(result);
}

file::TransferCall Driver::call_of(const Step& step, std::uint8_t* memory,
                                   std::int64_t origin) const {
  const Part& mine = part(step);
  file::TransferCall call;
  call.direction = direction_of(step);
  call.collective = step.is_collective;
  if (step.positioning == Positioning::explicit_offset && !mine.at_pointer) {
    call.offset = mine.offset;
  }
  call.shared = step.positioning == Positioning::shared;
  call.buffer = memory + origin;
  call.count = mine.wrong ? -1 : mine.count;
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

Error Driver::begin(const Step& step, const file::TransferCall& call, Pending& pending,
                    file::Outcome& outcome) {
  switch (step.style) {
    case Style::blocking: outcome = file_->transfer(call); return std::move(outcome.error);
    case Style::split: {
      if (Error error = file_->begin(call)) return error;
      if (step.ending == Ending::later) return {};
      outcome = file_->end(call.direction, call.shared, call.offset.has_value());
      return std::move(outcome.error);
    }
    default: {
      Result<std::shared_ptr<file::Operation>> started = file_->start(call);
      if (!started) return started.error();
      pending.operation = std::move(started.value());
      return {};
    }
  }
}

void Driver::access(const Step& step) {
  Pending pending{nullptr, make_memory(seed_, step, rank_), {}};
  Buffer buffer(pending.memory.bytes, part(step).on_device);
  const file::TransferCall transfer = call_of(step, buffer.address(), pending.memory.origin);
  file::Outcome outcome;
  outcome.error = call([&] { return begin(step, transfer, pending, outcome); });
  if (pending.operation && step.ending == Ending::never) {
    while (!pending.operation->is_done()) std::this_thread::yield();
    pending.got.is_unknown = true;
  } else if (pending.operation && step.ending == Ending::at_once) {
    outcome.error = call([&] {
      outcome = pending.operation->wait();
      return outcome.error;
    });
  }
  pending.got.position = position();
  const bool goes_on =
      step.style != Style::blocking && step.ending == Ending::later && !outcome.error;
  if (goes_on) {
    if (step.style == Style::split) split_ = step;
    pending_[step.id] = std::move(pending);
  } else {
    buffer.bring_back();
    finish(step.id, std::move(pending), outcome);
  }
}

void Driver::finish(int id, Pending pending, const file::Outcome& outcome) {
  pending.got.error = outcome.error;
  pending.got.bytes = outcome.bytes;
  pending.got.memory = std::move(pending.memory.bytes);
  results_[id] = std::move(pending.got);
}

void Driver::wait(const Step& step) {
  for (const int id : part(step).waits) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) continue;  // its start failed, which was told
    file::Operation& operation = *found->second.operation;
    if (step.cancels) found->second.got.cancelled = operation.cancel();
    if (step.completion != Completion::wait && step.completion != Completion::waitall) {
      while (!operation.is_done()) std::this_thread::yield();
    }
    const file::Outcome outcome = operation.wait();
    finish(id, std::move(found->second), outcome);
    pending_.erase(id);
  }
  got(step, {});
}

void Driver::end(const Step& step) {
  const file::Outcome outcome =
      file_->end(direction_of(step), step.positioning == Positioning::shared,
                 step.positioning == Positioning::explicit_offset);
  const bool matches =
      split_ && split_->is_write == step.is_write && split_->positioning == step.positioning;
  if (!matches) return got(step, outcome.error);
  finish(split_->id, std::move(pending_[split_->id]), outcome);
  pending_.erase(split_->id);
  split_.reset();
  got(step, {});
}

void Driver::query(const Step& step) {
  const std::int64_t offset = part(step).offset;
  Got result;
  Error error = call([&]() -> Error {
    if (step.kind == StepKind::seek) return file_->positions().seek(offset, whence_of(step.whence));
    const Result<std::int64_t> answer =
        step.kind == StepKind::shared_position ? file_->positions().shared()
        : step.kind == StepKind::byte_offset   ? file_->positions().byte_offset(offset)
                                               : file_->size();
    if (!answer) return answer.error();
    result.value = answer.value();
    return {};
  });
  got(step, error, std::move(result));
}

void Driver::together(const Step& step) {
  if (step.kind == StepKind::set_view) return got(step, set_view(step));
  const bool wrong = part(step).wrong;
  const std::int64_t size = wrong ? -1 : step.value;
  got(step, call([&]() -> Error {
        switch (step.kind) {
          case StepKind::set_size: return file_->resize(size);
          case StepKind::preallocate: return file_->allocate(size);
          case StepKind::set_hints: return file_->set_hints(step.hints);
          case StepKind::set_atomicity: return file_->set_atomicity(step.atomic != wrong);
          case StepKind::seek_shared:
            return file_->positions().seek_shared(step.value + (wrong ? 1 : 0),
                                                  whence_of(step.whence));
          default: return file_->sync();
        }
      }));
}

Error Driver::set_view(const Step& step) {
  const View& view = part(step).view;
  Result<file::View> made = file::View{.displacement = view.displacement,
                                       .etype = make_type(view.etype),
                                       .filetype = make_type(view.filetype)};
  made.value().from_shared_pointer = view.current;
  if (part(step).wrong) made = Error{ErrorClass::type, 0, "wrong"};
  return call([&] { return file_->set_view(made, step.hints); });
}

}  // namespace headrace::steps
