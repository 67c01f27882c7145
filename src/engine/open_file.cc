#include "engine/open_file.h"

#include <cerrno>
#include <vector>

#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "engine/agreement.h"
#include "engine/hint_file.h"

namespace headrace::engine {
namespace {

using exchange::Combine;
using exchange::Values;

/// All that must be the same on all ranks, in one number.
std::int64_t bits_of(const AccessMode& mode) {
  std::int64_t bits = 0;
  for (const bool bit : {mode.read, mode.write, mode.create, mode.exclusive, mode.append,
                         mode.sequential, mode.delete_on_close, mode.unique_open}) {
    bits = 2 * bits + (bit ? 1 : 0);
  }
  return bits;
}

/// Before anything that depends on the mode: ranks of other modes would wait at other places.
/// Whether all ranks are told to verify.
Result<bool> agree_on_mode(exchange::Channel& channel, const AccessMode& mode,
                           std::string_view path, const Error& refused) {
  const std::int64_t bits = bits_of(mode);
  constexpr Combine ways[] = {Combine::max, Combine::min, Combine::max, Combine::min};
  Values values{code_of(refused), bits, bits, settings().verify ? 1 : 0};
  if (Error error = channel.combine(values, ways)) return error;
  if (values[1] != values[2]) {
    return Error{ErrorClass::not_same, 0,
                 Undertaking{"open", path}.text() +
                     " (the access mode is not the same on all ranks), pass the same mode "
                     "everywhere"};
  }
  if (Error error = own_or_others(refused, values[0], {"open", path})) return error;
  return values[3] == 1;
}

}  // namespace

Result<std::unique_ptr<File>> File::open(std::shared_ptr<exchange::Team> team,
                                         storage::FileSystem& file_system, std::string_view path,
                                         AccessMode mode, const Hints& hints,
                                         const Error& refused) {
  std::unique_ptr<OpenFile> file;
  const Error lacking = attempt([&]() -> Error {
    file = std::make_unique<OpenFile>(team, file_system, std::string(path), mode);
    return {};
  });
  Result<std::unique_ptr<exchange::Channel>> channel = team->open_channel();
  if (!channel) return channel.error();
  const Error& failed = lacking ? lacking : refused;
  const Result<bool> may_verify = agree_on_mode(*channel.value(), mode, path, failed);
  if (!may_verify) return may_verify.error();
  if (Error error = file->open(std::move(channel.value()), hints, may_verify.value())) return error;
  return std::unique_ptr<File>(std::move(file));
}

OpenFile::OpenFile(std::shared_ptr<exchange::Team> team, storage::FileSystem& file_system,
                   std::string path, AccessMode mode)
    : team_(std::move(team)),
      file_system_(file_system),
      path_(std::move(path)),
      mode_(mode),
      view_(std::make_shared<const View>(
          View{.displacement = 0, .etype = byte_, .filetype = byte_})) {}

OpenFile::~OpenFile() {
  if (channel_) drain();
}

Error OpenFile::open(std::unique_ptr<exchange::Channel> channel, const Hints& hints,
                     bool may_verify) {
  channel_ = std::move(channel);
  own_share_ = find_own_share();
  shared_.emplace(*channel_, path_);
  // The place may have served a file before. No rank writes before all have agreed, below.
  if (channel_->control() != nullptr) {
    failed_writes_before_ = channel_->control()->failed_writes.load(std::memory_order_acquire);
  }
  hints_.values = default_hint_values();
  Error failed = attempt([&]() -> Error {
    take_hint_file();
    hints_ = hints_with(hints);
    return {};
  });
  if (Error error = attempt([this] { return open_store(); }); !failed) failed = std::move(error);
  if (!failed && mode_.append) failed = attempt([this] { return find_end(); });
  if (!failed) {
    failed = attempt([&]() -> Error {
      collective_.emplace(*channel_, *store_);
      if (may_verify && mode_.write) {
        verification_ = std::make_unique<Verification>(*channel_, *store_, path_);
      }
      return {};
    });
  }
  // So that appending goes on where the file ends (MPI 4.1, 14.2.1).
  shared_->set(position_);
  // The first rank looks, since file systems may be asked over the network for it; how it is
  // mounted each node knows.
  if (channel_->is_leader() && store_ != nullptr) {
    const Error unknown = attempt([this]() -> Error {
      if (channel_->rank() == 0) {
        layout_ = store_->layout();
      } else {
        layout_.is_coherent = store_->is_coherent();
      }
      return {};
    });
    if (!failed) failed = unknown;
  }
  Result<Agreement> agreement =
      agree(*channel_, failed, {"open", path_}, hints_.values, *view_, layout_);
  if (!agreement) return agreement.error();
  layout_ = agreement.value().layout;
  nodes_write_for_each_other_ = agreement.value().view.may_exchange();
  collective_->set(agreement.value());
  collective_->get_ready(layout_.kind);
  tell_corrections(agreement.value());
  return verification_ ? verification_->set_up(mode_.read, nodes_write_for_each_other_) : Error{};
}

/// Hints that count for no rank, or not as this one gave them, are told once by the first rank, and
/// by hints() of all. Without memory for the text nobody is told.
void OpenFile::tell_corrections(const Agreement& agreement) {
  static_cast<void>(attempt([&]() -> Error {
    std::string all;
    for (const std::string& line : corrections_of(agreement)) {
      if (channel_->rank() == 0) tell_once(line);
      all += (all.empty() ? "" : "; ") + line;
    }
    const std::lock_guard lock(mutex_);
    corrections_ = std::move(all);
    return {};
  }));
}

Error OpenFile::find_end() {
  const Result<ByteCount> size = store_->size();
  if (!size) return size.error();
  position_ = size.value();
  return {};
}

/// The first rank creates the file, so that MPI_MODE_EXCL holds for the job and the name is made by
/// one; the others find it.
Error OpenFile::open_store() {
  const auto open_as = [this](bool create, bool exclusive) {
    return attempt([&]() -> Error {
      auto opened = file_system_.open(
          path_, {mode_.read, mode_.write, create, exclusive, striping_of(hints_.values)});
      if (!opened) return opened.error();
      store_ = std::move(opened.value());
      return {};
    });
  };
  if (!mode_.create) return open_as(false, false);
  const bool creates = channel_->rank() == 0;
  Error failed;
  if (creates) failed = open_as(true, mode_.exclusive);
  if (Error error = agree_on_error(*channel_, failed, {"create", path_})) return error;
  return creates ? Error{} : open_as(false, false);
}

void OpenFile::take_hint_file() {
  const HintFile& file = hint_file();
  if (channel_->rank() == 0 && !file.problem.empty()) tell_once(file.problem);
  if (file.hints.empty()) return;
  hints_ = hints_with(file.hints, "'" + printable(settings().hints_file) + "': ");
  take_settings(hints_.values);
}

HintsInUse OpenFile::hints_with(const Hints& hints, const std::string& source) const {
  HintsInUse next = hints_;
  std::vector<std::string> problems;
  for (auto& [name, value] : apply_hints(hints, next.values, problems)) {
    next.given[name] = std::move(value);
  }
  if (channel_->rank() == 0) {
    for (const std::string& problem : problems) tell_once(source + problem);
  }
  return next;
}

Error OpenFile::close() {
  drain();
  Error failed = attempt([this] { return store_->close(); });
  if (verification_) verified_ = collect_verified();
  if (Error untold = attempt([this] { return untold_failure(); }); !failed) {
    failed = std::move(untold);
  }
  constexpr Combine ways[] = {Combine::max, Combine::sum, Combine::sum, Combine::sum,
                              Combine::sum, Combine::sum, Combine::sum, Combine::max,
                              Combine::max, Combine::max, Combine::max, Combine::max};
  const MemoryPeaks peaks = memory_peaks();
  Values values{code_of(failed),
                own_failed_writes_,
                totals_.written_directly,
                totals_.written_staged,
                totals_.read_directly,
                totals_.read_staged,
                totals_.failed_calls,
                peaks[0],
                peaks[1],
                peaks[2],
                peaks[3],
                peaks[4]};
  // Nobody returns before all have closed: on file systems with close-to-open coherence the data is
  // then visible to whoever opens the file.
  Error unreachable = channel_->combine(values, ways);
  if (!failed && unreachable) failed = unreachable;
  if (mode_.delete_on_close) {
    Error removed;
    if (channel_->rank() == 0) removed = attempt([this] { return file_system_.remove(path_); });
    removed = agree_on_error(*channel_, removed, {"delete", path_});
    if (!failed) failed = std::move(removed);
  }
  // Where there is no memory the report lacks this file.
  static_cast<void>(attempt([&]() -> Error {
    record(values);
    return {};
  }));
  failed = own_or_others(failed, values[0], {"close", path_});
  if (failed) return failed;
  if (values[1] > own_failed_writes_ + known_failed_writes_) {
    return {ErrorClass::io, 0,
            "data is missing in '" + path_ +
                "' (a write of another rank failed), see that rank's error and write it again"};
  }
  return {};
}

void OpenFile::record(const Values& totals) {
  if (channel_->rank() != 0) return;
  record::FileRecord file;
  file.path = path_;
  file.totals = {totals[2], totals[3], totals[4], totals[5], totals[6]};
  file.write_reason = collective_->path_and_reason(Direction::write);
  file.read_reason = collective_->path_and_reason(Direction::read);
  file.store_choices = store_->choices();
  file.verified = verified_;
  file.memory = {totals[7], totals[8], totals[9], totals[10], totals[11]};
  record::add_file(file);
}

/// Bytes of this rank may lie in another node's cache: so all ranks sync, and tell each other.
Error OpenFile::sync() {
  if (nodes_write_for_each_other_) drain_lane();
  Error failed = attempt([this] { return store_->sync(); });
  if (nodes_write_for_each_other_) failed = agree_on_error(*channel_, failed, {"sync", path_});
  if (failed) return failed;
  failed = untold_failure();
  return failed ? failed : failed_elsewhere();
}

/// A failed write that was begun by this rank, and that the program has not been told of.
Error OpenFile::untold_failure() {
  Error failed = background_->untold.take();
  if (!failed) return failed;
  // It was taken off the list: it is told in any case.
  static_cast<void>(attempt([&]() -> Error {
    failed.message = "a nonblocking write failed: " + failed.message;
    return {};
  }));
  return failed;
}

/// Others may count on what a write lacks because its rank has no memory.
void OpenFile::note_unwritten(const TransferCall& call, const Error& failed) {
  if (failed.error_class != ErrorClass::no_memory || call.direction != Direction::write) return;
  const std::lock_guard lock(mutex_);
  note_failed_write(ENOMEM);
}

/// Both counts change under the lock, which the caller holds, so that no thread takes this rank's
/// failure for another's.
void OpenFile::note_failed_write(int system_error) {
  own_failed_writes_ += 1;
  channel_->note_failed_write(system_error);
}

/// What a program is told of a failed call; errno 0: its view shows no bytes.
Error OpenFile::told_of(Direction direction, int system_error) const {
  const bool writes = direction == Direction::write;
  if (system_error == 0) {
    return {ErrorClass::argument, 0,
            "cannot write to '" + path_ + "' (the view shows no bytes), set another view"};
  }
  return system_failure(system_error,
                        (writes ? "cannot write to '" : "cannot read from '") + path_ + "'");
}

/// A failed write of another rank of the node that this program has not been told of. Waits for
/// nobody: failures on other nodes are told by close.
Error OpenFile::failed_elsewhere() {
  exchange::Control* const control = channel_->control();
  if (control == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const std::int64_t all = control->failed_writes.load(std::memory_order_acquire);
  const std::int64_t others = all - failed_writes_before_ - own_failed_writes_;
  if (others <= known_failed_writes_) return {};
  Error failed = system_failure(control->last_system_error.load(std::memory_order_relaxed),
                                "data of another rank is missing in '" + path_ + "'");
  // Without memory for the text it has not been told.
  known_failed_writes_ = others;
  return failed;
}

Result<ByteCount> OpenFile::size() {
  return store_->size();
}

Error OpenFile::resize(ByteCount size) {
  return change_size(size, &storage::Store::resize);
}

Error OpenFile::allocate(ByteCount size) {
  return change_size(size, &storage::Store::allocate);
}

/// All ranks come first, so that no earlier write of theirs lands after the change; the first rank
/// makes it, and all get its result.
Error OpenFile::change_size(ByteCount size, Error (storage::Store::*change)(ByteCount)) {
  // All ranks opened with one mode, so none waits for one that returns here.
  if (!mode_.write) {
    return {ErrorClass::read_only, 0,
            "cannot change the size of '" + path_ +
                "' (it was opened with MPI_MODE_RDONLY), open it for writing"};
  }
  drain_lane();
  constexpr Combine ways[] = {Combine::min, Combine::max};
  Values sizes{size, size};
  if (Error error = channel_->combine(sizes, ways)) return error;
  if (sizes[0] < 0) {
    return {ErrorClass::argument, 0,
            "cannot change the size of '" + path_ + "' (a rank asks for " +
                std::to_string(sizes[0]) + " bytes), check for overflow"};
  }
  if (sizes[0] != sizes[1]) {
    return {ErrorClass::not_same, 0,
            "cannot change the size of '" + path_ + "' (ranks ask for " + std::to_string(sizes[0]) +
                " and " + std::to_string(sizes[1]) + " bytes), pass the same size on all ranks"};
  }
  Error failed;
  if (channel_->rank() == 0) failed = attempt([&] { return (store_.get()->*change)(size); });
  return agree_on_error(*channel_, failed, {"change the size of", path_});
}

Error OpenFile::set_hints(const Hints& hints) {
  drain_lane();
  HintsInUse next;
  const Error failed = attempt([&]() -> Error {
    next = hints_with(hints);
    return {};
  });
  Result<Agreement> agreement =
      agree(*channel_, failed, {"set hints of", path_}, next.values, *view_, layout_);
  if (!agreement) return agreement.error();
  {
    const std::lock_guard lock(mutex_);
    hints_ = std::move(next);
  }
  collective_->set(agreement.value());
  tell_corrections(agreement.value());
  return {};
}

Hints OpenFile::hints() const {
  const std::lock_guard lock(mutex_);
  Hints hints = hints_.given;
  for (auto& [name, value] : hints_of(hints_.values)) hints[name] = std::move(value);
  hints["cb_buffer_size"] = std::to_string(collective_->window_size());
  for (auto& [name, value] : hints_of(layout_)) hints[name] = std::move(value);
  if (const auto sent = collective_->sent(); sent.messages > 0) {
    hints["headrace_messages_sent"] = std::to_string(sent.messages);
    hints["headrace_bytes_sent"] = std::to_string(sent.bytes);
  }
  for (const Direction direction : {Direction::write, Direction::read}) {
    const std::string name = direction == Direction::write ? "headrace_write_" : "headrace_read_";
    hints[name + "taken"] = policy::name_of(collective_->path_taken(direction));
    hints[name + "reason"] = collective_->reason(direction);
  }
  hints["headrace_shared_memory"] = team_->shared_memory();
  if (!corrections_.empty()) hints["headrace_corrections"] = corrections_;
  return hints;
}

}  // namespace headrace::engine
