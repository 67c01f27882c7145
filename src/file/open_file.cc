#include "file/open_file.h"

#include <cerrno>
#include <cstring>

#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "buffering/buffer_limit.h"
#include "file/aggregator_display.h"
#include "file/agreement.h"
#include "file/client_lock.h"
#include "file/hint_display.h"
#include "file/profiles.h"

namespace headrace::file {
namespace {

/// The parts of the mode that must be the same on all ranks, as one number.
std::int64_t bits_of(const AccessMode& mode) {
  std::int64_t bits = 0;
  for (const bool bit : {mode.read, mode.write, mode.create, mode.exclusive, mode.append,
                         mode.sequential, mode.delete_on_close, mode.unique_open}) {
    bits = 2 * bits + (bit ? 1 : 0);
  }
  return bits;
}

/// What each rank contributes before all open a file.
struct Opening {
  std::int64_t failure = 0;  ///< code_of() its error
  fabric::Extremes mode;
  std::int64_t verifies = 0;  ///< 1: HEADRACE_VERIFY is set
  std::int64_t displays = 0;  ///< 1: HEADRACE_AGGREGATORS_DISPLAY is set

  void combine(const Opening& other) {
    fabric::keep_greatest(failure, other.failure);
    mode.combine(other.mode);
    fabric::keep_least(verifies, other.verifies);
    fabric::keep_least(displays, other.displays);
  }
};

/// What each rank contributes when all have asked for a lock.
struct Refused {
  std::int64_t system_error = 0;
  void combine(const Refused& other) { fabric::keep_greatest(system_error, other.system_error); }
};

/// What each rank contributes before the file's size changes.
struct ChangeOfSize {
  fabric::Extremes wanted;
  ByteCount known = 0;       ///< of the file: a node may not know yet what others have written
  std::int64_t failure = 0;  ///< code_of() its error: then none changes it

  void combine(const ChangeOfSize& other) {
    wanted.combine(other.wanted);
    fabric::keep_greatest(known, other.known);
    fabric::keep_greatest(failure, other.failure);
  }
};

/// Agrees on the mode, before anything that depends on it: ranks with other modes would wait at
/// other places.
Result<OpenFile::Asked> agree_on_mode(exchange::FileChannel& channel, const AccessMode& mode,
                                      std::string_view path, const Error& refused) {
  Opening all{code_of(refused), fabric::Extremes::of(bits_of(mode)), settings().verify ? 1 : 0,
              settings().aggregators_display ? 1 : 0};
  if (Error error = channel.combine(all)) return error;
  if (!all.mode.are_same()) {
    return Error{ErrorClass::not_same, 0,
                 Action{"open", path}.text() +
                     " (the access mode is not the same on all ranks), pass the same mode "
                     "everywhere"};
  }
  if (Error error = own_or_others(refused, all.failure, {"open", path})) return error;
  if (settings().verify && all.verifies == 0) {
    print_message_once(
        "no write is verified (HEADRACE_VERIFY is not set on all ranks), set it for the whole job");
  }
  return OpenFile::Asked{.verifies = all.verifies == 1, .displays = all.displays == 1};
}

/// Finds what this rank must find of the layout, and the profile. Only the first rank looks at the
/// file, since that may ask a server; each node's leader looks at how the file system is mounted.
Error find_layout(const exchange::FileChannel& channel, storage::Store& store,
                  storage::Layout& layout, ProfileFound& profile) {
  return attempt([&]() -> Error {
    if (channel.nodes().rank() == 0) {
      layout = store.layout();
      profile.number = profile_on_device(layout.kind, store.device());
    } else if (channel.nodes().is_leader()) {
      layout.is_coherent = store.is_coherent();
    }
    profile.may_be = may_have_profile(store.device());
    return {};
  });
}

}  // namespace

Result<std::unique_ptr<File>> File::open(std::shared_ptr<exchange::FileTeam> team,
                                         storage::FileSystem& file_system, std::string_view path,
                                         AccessMode mode, const Hints& hints,
                                         const Error& refused) {
  std::unique_ptr<OpenFile> file;
  const Error lacking = attempt([&]() -> Error {
    file = std::make_unique<OpenFile>(team, file_system.full_name(std::string(path)), mode);
    return {};
  });
  Result<std::unique_ptr<exchange::FileChannel>> channel = team->open_channel();
  if (!channel) return channel.error();
  const Error& failed = lacking ? lacking : refused;
  const Result<OpenFile::Asked> asked = agree_on_mode(*channel.value(), mode, path, failed);
  if (!asked) return asked.error();
  if (Error error =
          file->open(std::move(channel.value()), file_system, path, hints, asked.value())) {
    return error;
  }
  return std::unique_ptr<File>(std::move(file));
}

OpenFile::OpenFile(const std::shared_ptr<exchange::FileTeam>& team, const std::string& path,
                   AccessMode mode)
    : team_(team),
      path_(path),
      mode_(mode),
      pointer_(path_, std::make_shared<const View>(
                          View{.displacement = 0, .etype = byte_, .filetype = byte_})),
      calls_(team) {}

Error OpenFile::open(std::unique_ptr<exchange::FileChannel> channel,
                     storage::FileSystem& file_system, std::string_view path, const Hints& hints,
                     const Asked& asked) {
  channel_ = std::move(channel);
  // The channel's place may have served another file before. No rank writes before all have agreed,
  // below.
  failures_.emplace(*channel_, path_, calls_.background()->unreported);
  hints_.emplace(channel_->nodes().rank() == 0);
  Error failed = attempt([&]() -> Error {
    hints_->start(path, path_, hints);
    return {};
  });
  static_cast<void>(attempt([this]() -> Error {
    recorded_.open(path_);
    return {};
  }));
  const record::CallTimer timer(recorded_.counts(), &record::FileCounts::open);
  if (Error error = open_store(file_system, path); !failed) failed = std::move(error);
  if (!failed && mode_.append) failed = attempt([this] { return find_end(); });
  if (!failed) {
    failed = attempt([&]() -> Error {
      storage::Store& unbuffered = buffered_ != nullptr ? buffered_->unbuffered() : *store_;
      executor_.emplace(*channel_, *store_, unbuffered, path_, *failures_, recorded_,
                        asked.verifies && mode_.write);
      return {};
    });
  }
  if (store_ != nullptr) {
    positions_.emplace(*channel_, *store_, path_, mode_.sequential, pointer_, calls_);
    // In append mode, both pointers begin at the end of the file (MPI 4.1, 14.2.1).
    positions_->start_shared_at(pointer_.position());
  }
  if (store_ != nullptr) {
    const Error unknown = find_layout(*channel_, *store_, layout_, profile_);
    if (!failed) failed = unknown;
  }
  Result<Agreement> agreement =
      agree(*channel_, failed, {"open", path_}, hints_->values(), *pointer_.view(), found());
  if (!agreement) return agreement.error();
  layout_ = agreement.value().layout;
  const ByteCount stripe = agreement.value().stripe;
  recorded_.set_unit(stripe > 0 ? stripe : layout_.block_size);
  nodes_write_for_each_other_ = agreement.value().view.may_exchange();
  executor_->collective().set(agreement.value());
  executor_->collective().get_ready(layout_.kind);
  if (mode_.write) take_first_lock();
  report_corrections(agreement.value());
  if (asked.displays) display_aggregators(agreement.value());
  recorded_.note_open();
  if (!layout_.is_one_file) executor_->stop_verifying();
  Verification* const verification = executor_->verification();
  return verification != nullptr ? verification->set_up(mode_.read, nodes_write_for_each_other_)
                                 : Error{};
}

/// On NFS, for as long as the file is open. Taken once more, it finds what other nodes have
/// written. In files of one node's ranks, too: other nodes may have the same one open.
Error OpenFile::take_lock() {
  if (!storage::extends_writes(layout_.kind) || !settings().nfs_lock) return {};
  return attempt(
      [this] { return hold_client_lock(*store_, mode_.read, channel_->nodes().rank()); });
}

/// Collective. The first rank tells if one was refused the lock.
void OpenFile::take_first_lock() {
  if (!storage::extends_writes(layout_.kind)) return;
  const Error failed = take_lock();
  Refused all{failed && failed.system_error == 0 ? ENOMEM : failed.system_error};
  if (channel_->combine(all) || all.system_error == 0 || channel_->nodes().rank() != 0) return;
  static_cast<void>(attempt([&]() -> Error {
    print_message_once("nodes may write over each other's bytes in '" + printable(path_) +
                       "' (a lock that keeps NFS from writing whole pages was refused: " +
                       std::strerror(static_cast<int>(all.system_error)) +
                       "), mount it with locks or write from one node");
    return {};
  }));
}

/// Reports nothing if memory for the text lacks.
void OpenFile::report_corrections(const Agreement& agreement) {
  static_cast<void>(attempt([&]() -> Error {
    const std::vector<std::string> lines = corrections_of(agreement);
    const bool is_first = channel_->nodes().rank() == 0;
    if (is_first) recorded_.note_corrections(lines);
    hints_->note_corrections(lines);
    if (is_first && is_display_wanted()) {
      const std::string mount = mount_of_device(store_->device());
      print_message_once(explain_hints(
          path_, {hints(), hints_->asked(), hints_->origins(), explain_nodes(agreement, mount),
                  policy::explain_costs(agreement.profile)}));
    }
    return {};
  }));
}

/// Collective. Files of one rank have no aggregators to tell of.
void OpenFile::display_aggregators(const Agreement& agreement) {
  if (channel_->nodes().size() == 1) return;
  const std::vector<AggregatorNode> nodes = gather_nodes(*channel_, agreement.places);
  if (nodes.empty()) return;
  static_cast<void>(attempt([&]() -> Error {
    print_messages(aggregator_lines(path_, nodes, executor_->collective().domains(),
                                    agreement.view.may_exchange()));
    return {};
  }));
}

Error OpenFile::find_end() {
  const Result<ByteCount> size = store_->size();
  if (!size) return size.error();
  pointer_.start_at(size.value());
  return {};
}

/// The first rank creates the file, so that MPI_MODE_EXCL holds for the whole job; then the others
/// open it.
Error OpenFile::open_store(storage::FileSystem& file_system, std::string_view path) {
  const bool is_first = channel_->nodes().rank() == 0;
  const auto open_as = [&](bool create, bool exclusive) {
    return attempt([&]() -> Error {
      auto opened = file_system.open(std::string(path),
                                     {.read = mode_.read,
                                      .write = mode_.write,
                                      .create = create,
                                      .exclusive = exclusive,
                                      .is_deleted_later = is_first && mode_.delete_on_close,
                                      .striping = striping_of(hints_->values()),
                                      .permissions = hints_->values().permissions,
                                      .style = hints_->values().style,
                                      .is_direct = hints_->values().passes_cache});
      if (!opened) return opened.error();
      set_store(std::move(opened.value()), path);
      return {};
    });
  };
  if (!mode_.create) return open_as(false, false);
  Error failed;
  if (is_first) failed = open_as(true, mode_.exclusive);
  if (Error error = agree_on_error(*channel_, failed, {"create", path_})) return error;
  return is_first ? Error{} : open_as(false, false);
}

/// Counts and buffers what goes to the store, as settings ask for it.
void OpenFile::set_store(std::unique_ptr<storage::Store> opened, std::string_view path) {
  store_ = recorded_.counted(std::move(opened));
  const buffering::BufferShape* const wanted = buffering::shape_of(path, path_);
  if (wanted == nullptr) return;
  const int ranks = channel_->nodes().node_size();
  const auto shape = buffering::limited(*wanted, own_share_of(ranks));
  const std::string cut = buffering::cut_line(*wanted, shape, ranks);
  if (channel_->nodes().rank() == 0 && !cut.empty()) print_message_once(cut);
  if (shape.count == 0) return;
  auto buffered = std::make_unique<buffering::BufferedStore>(std::move(store_), shape, path_);
  buffered_ = buffered.get();
  store_ = std::move(buffered);
  if (channel_->nodes().rank() == 0) explain_buffers(shape);
}

void OpenFile::explain_buffers(const buffering::BufferShape& shape) const {
  const std::string text = buffering::text_of(shape);
  recorded_.note_buffers(text);
  if (is_display_wanted()) print_message_once("buffers of '" + path_ + "': " + text);
}

Result<ByteCount> OpenFile::size() {
  return store_->size();
}

Error OpenFile::resize(ByteCount size) {
  return change_size(size, [size](storage::Store& store, ByteCount) { return store.resize(size); });
}

Error OpenFile::allocate(ByteCount size) {
  return change_size(
      size, [size](storage::Store& store, ByteCount known) { return store.allocate(size, known); });
}

/// Empties the buffers and then does `action`, whatever came of that. The first error counts.
Error OpenFile::settle_and(Error (storage::Store::*action)()) {
  Error lost = executor_->settle();
  Error failed = attempt([&] { return (store_.get()->*action)(); });
  return lost ? lost : failed;
}

/// All ranks meet first, so that none of their earlier writes lands after the change. The first
/// rank makes the change, and all get its result.
template <class Change>
Error OpenFile::change_size(ByteCount size, Change change) {
  // All ranks opened in the same mode, so all return here.
  if (!mode_.write) {
    return {ErrorClass::read_only, 0,
            "cannot change the size of '" + path_ +
                "' (it was opened with MPI_MODE_RDONLY), open it for writing"};
  }
  calls_.wait_for_meetings();
  Error failed = executor_->settle();
  static_cast<void>(take_lock());
  const Result<ByteCount> present = store_->size();
  ChangeOfSize all{fabric::Extremes::of(size), present ? present.value() : 0, code_of(failed)};
  if (Error error = channel_->combine(all)) return error;
  const fabric::Extremes& sizes = all.wanted;
  if (failed && (sizes.least < 0 || !sizes.are_same())) return failed;
  if (sizes.least < 0) {
    return {ErrorClass::argument, 0,
            "cannot change the size of '" + path_ + "' (a rank asks for " +
                std::to_string(sizes.least) + " bytes), check for overflow"};
  }
  if (!sizes.are_same()) {
    return {ErrorClass::not_same, 0,
            "cannot change the size of '" + path_ + "' (ranks ask for " +
                std::to_string(sizes.least) + " and " + std::to_string(sizes.greatest) +
                " bytes), pass the same size on all ranks"};
  }
  if (channel_->nodes().rank() == 0 && all.failure == 0)
    failed = attempt([&] { return change(*store_, all.known); });
  return agree_on_error(*channel_, failed, {"change the size of", path_});
}

Error OpenFile::set_hints(const Hints& hints, const Error& refused) {
  calls_.wait_for_meetings();
  HintsInUse next;
  const Error failed = attempt([&]() -> Error {
    next = hints_->with(hints);
    return refused;
  });
  Result<Agreement> agreement =
      agree(*channel_, failed, {"set hints of", path_}, next.values, *pointer_.view(), found());
  if (!agreement) return agreement.error();
  hints_->set(std::move(next));
  executor_->collective().set(agreement.value());
  report_corrections(agreement.value());
  return {};
}

Hints OpenFile::hints() const {
  Hints hints = hints_in_force(hints_->shown(), layout_, channel_->nodes().size(),
                               executor_->collective().window_size());
  if (const auto sent = executor_->collective().sent(); sent.messages > 0) {
    hints["headrace_messages_sent"] = std::to_string(sent.messages);
    hints["headrace_bytes_sent"] = std::to_string(sent.bytes);
  }
  for (const Direction direction : {Direction::write, Direction::read}) {
    const std::string name = direction == Direction::write ? "headrace_write_" : "headrace_read_";
    hints[name + "taken"] = policy::name_of(executor_->collective().choice(direction).path_taken());
    hints[name + "reason"] = executor_->collective().choice(direction).reason();
  }
  hints["headrace_shared_memory"] = team_->ranks().sharing();
  return hints;
}

}  // namespace headrace::file
