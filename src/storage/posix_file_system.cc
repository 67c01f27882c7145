#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>

#include "base/blocked_signals.h"
#include "base/file_size_guard.h"
#include "base/kept_errno.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "base/uninterrupted.h"
#include "storage/absolute_name.h"
#include "storage/direct_io.h"
#include "storage/directory_entry.h"
#include "storage/held_file.h"
#include "storage/lustre.h"
#include "storage/move_all.h"
#include "storage/realigned_reads.h"
#include "storage/slowed_store.h"
#include "storage/store.h"

namespace headrace::storage {
namespace {

class PosixStore : public Store {
 public:
  explicit PosixStore(std::string path) : path_(std::move(path)) {}
  /// Takes what remove() will need. Returns 0 or an errno.
  int take_entry(const std::string& path) { return entry_.take(path, descriptor_.get()); }
  /// False, and errno EMFILE, if no descriptor number is free.
  bool take(const Created& created, const struct stat& status = {}) {
    created_ = created;
    file_number_ = static_cast<std::int64_t>(status.st_ino);
    device_ = status.st_dev;
    descriptor_ = hold_file(created.descriptor);
    return static_cast<bool>(descriptor_);
  }
  PosixStore(const PosixStore&) = delete;
  PosixStore& operator=(const PosixStore&) = delete;

  /// From now on whole pages go past the page cache; where the file system refuses that, a line
  /// says so.
  void pass_cache() {
    const int failed = direct_.open(descriptor_.get());
    if (failed == 0) return;
    const bool is_refused = failed == EINVAL;
    const std::string why =
        is_refused ? "its file system refuses O_DIRECT"
                   : "it cannot be opened once more: " + std::string(std::strerror(failed));
    print_job_message_once("direct_io has no effect on '" + printable(path_) + "' (" + why + "), " +
                           (is_refused ? "leave the hint out" : "see what the process may open"));
  }

  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    if (may_be_closed() && !descriptor_.is_intact()) return {0, EBADF};
    if (segments.size() == 1 && direct_.is_on()) {
      return direct_.move(
          Direction::read, offset, segments.front(),
          [this](FileOffset at, const iovec& part) { return read_all(at, {&part, 1}); });
    }
    if (segments.size() == 1 && is_misplaced(offset, segments.front())) {
      return read_misplaced(offset, segments.front());
    }
    return read_all(offset, segments);
  }

  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    if (may_be_closed() && !descriptor_.is_intact()) return {0, EBADF};
    const ByteCount wanted = bytes_of(segments);
    const auto write_all = [&] {
      const WriteTurn::Held held(turn_, wanted);
      if (held.was_waited_for()) has_waited_.store(true, std::memory_order_relaxed);
      Transferred done = segments.size() == 1 && direct_.is_on()
                             ? direct_.move(Direction::write, offset, segments.front(),
                                            [this](FileOffset at, const iovec& part) {
                                              return write_by_cache(at, {&part, 1});
                                            })
                             : write_by_cache(offset, segments);
      // A write that moves nothing and reports no error must not be repeated for ever.
      if (done.bytes < wanted && done.system_error == 0) done.system_error = EIO;
      return done;
    };
    if (!may_meet_limit(offset + wanted)) return write_all();
    const FileSizeGuard guard;
    return write_all();
  }

  Result<ByteCount> size() override {
    struct stat status{};
    if (!descriptor_.is_intact() || fstat(descriptor_.get(), &status) != 0) {
      return failure("cannot ask for the size of");
    }
    return static_cast<ByteCount>(status.st_size);
  }

  Error resize(ByteCount size) override {
    if (!descriptor_.is_intact()) return failure("cannot set the size of");
    const FileSizeGuard guard;
    while (ftruncate(descriptor_.get(), size) != 0) {
      if (errno != EINTR) return failure("cannot set the size of");
    }
    return {};
  }

  Error allocate(ByteCount size, ByteCount known) override {
    if (!descriptor_.is_intact()) return failure("cannot allocate space for");
    if (size == 0) return {};
    const FileSizeGuard guard;
    const int failed = allocate_at_once(size);
    if (failed == EOPNOTSUPP || failed == ENOSYS) return allocate_by_writing(size, known);
    return failed == 0 ? Error{} : system_failure(failed, "cannot allocate space for", path_);
  }

  Error sync() override {
    if (!descriptor_.is_intact()) return failure("cannot sync");
    while (fsync(descriptor_.get()) != 0) {
      if ((errno == EINVAL || errno == EROFS) && !may_have_unsynced_data()) return {};
      if (errno != EINTR) return failure("cannot sync");
    }
    return {};
  }

  void take_turns(const WriteTurn& turn) override { turn_ = turn; }

  Choices choices() override {
    return {has_waited_.load(std::memory_order_relaxed), realigned_.has_read(),
            direct_.has_moved()};
  }

  // Locks of the open file description, not of the process: they stay if the program closes another
  // descriptor of the file (fcntl(2), F_OFD_SETLKW).
  Error lock(FileOffset begin, FileOffset end, LockMode mode) override {
    struct flock range = lock_range(begin, end, mode);
    while (fcntl(descriptor_.get(), F_OFD_SETLKW, &range) != 0) {
      if (errno != EINTR) return failure("cannot lock");
    }
    return {};
  }

  Result<bool> try_lock(FileOffset begin, FileOffset end, LockMode mode) override {
    struct flock range = lock_range(begin, end, mode);
    while (fcntl(descriptor_.get(), F_OFD_SETLK, &range) != 0) {
      if (errno == EAGAIN || errno == EACCES) return false;
      if (errno != EINTR) return failure("cannot lock");
    }
    return true;
  }

  Result<std::unique_ptr<Store>> reopen_to_read() override {
    struct stat status{};
    if (!descriptor_.is_intact() || fstat(descriptor_.get(), &status) != 0) {
      return failure("cannot examine");
    }
    // Devices and pipes do not keep what was written.
    if (!S_ISREG(status.st_mode)) return Store::reopen_to_read();
    const std::string name = "/proc/self/fd/" + std::to_string(descriptor_.get());
    auto store = std::make_unique<PosixStore>(path_);
    const int descriptor =
        uninterrupted([&] { return ::open(name.c_str(), O_CLOEXEC | O_RDONLY); });
    if (descriptor < 0) return failure("cannot open to read");
    if (!store->take(Created{descriptor})) return failure("cannot open to read");
    return std::unique_ptr<Store>(std::move(store));
  }

  std::int64_t file_number() const override { return file_number_; }
  std::uint64_t device() const override { return device_; }

  Layout layout() override {
    Layout found = find_layout(descriptor_.get());
    found.outcome = created_.outcome;
    found.system_error = created_.system_error;
    return found;
  }

  bool is_coherent() override { return storage::is_coherent(descriptor_.get()); }

  void lock_ahead(FileOffset begin, FileOffset end) override {
    // After a refusal, does not ask again.
    if (begin >= end || refuses_lock_ahead_.load(std::memory_order_relaxed)) return;
    if (ask_lustre_lock(descriptor_.get(), begin, end) != 0) {
      refuses_lock_ahead_.store(true, std::memory_order_relaxed);
    }
  }

  Error close() override {
    if (entry_.is_taken() && descriptor_.is_intact()) entry_.hold(descriptor_.get());
    // Linux frees the descriptor even when close fails, also by EINTR (close(2)).
    const int failed = descriptor_.close();
    if (failed == 0 || failed == EINTR) return {};
    return system_failure(failed, "cannot close '" + path_ + "'");
  }

  Error remove() override { return entry_.remove(path_); }

 private:
  /// Where the descriptor could not be moved away from the program's: on network file systems.
  bool may_be_closed() const { return !descriptor_.has_high_number(); }

  Transferred read_all(FileOffset offset, std::span<const iovec> segments) {
    return move_all(offset, segments, [this](const iovec* list, int count, FileOffset at) {
      return count == 1 ? ::pread(descriptor_.get(), list->iov_base, list->iov_len, at)
                        : ::preadv(descriptor_.get(), list, count, at);
    });
  }

  Transferred write_by_cache(FileOffset offset, std::span<const iovec> segments) {
    return move_all(offset, segments, [this](const iovec* list, int count, FileOffset at) {
      return count == 1 ? ::pwrite(descriptor_.get(), list->iov_base, list->iov_len, at)
                        : ::pwritev(descriptor_.get(), list, count, at);
    });
  }

  Transferred read_misplaced(FileOffset offset, const iovec& segment) {
    const ByteCount moved = realigned_.read(descriptor_.get(), offset, segment);
    const auto left = segment.iov_len - static_cast<std::size_t>(moved);
    if (left == 0) return {moved, 0};
    const iovec rest{static_cast<std::byte*>(segment.iov_base) + moved, left};
    Transferred done = read_all(offset + moved, {&rest, 1});
    done.bytes += moved;
    return done;
  }

  /// Whether the process has a file size limit that writes up to `end` could meet. Asking costs as
  /// much as a small write, so an answer holds for a further stretch of the file. A limit that the
  /// program sets later is noticed when the file grows beyond that; until then it acts as without
  /// the layer (SIGXFSZ).
  bool may_meet_limit(FileOffset end) {
    constexpr ByteCount kStretch = ByteCount{1} << 20;
    if (end <= unlimited_below_.load(std::memory_order_relaxed)) return false;
    if (file_size_is_limited()) return true;
    constexpr FileOffset kLast = std::numeric_limits<FileOffset>::max();
    unlimited_below_.store(std::min(end, kLast - kStretch) + kStretch, std::memory_order_relaxed);
    return false;
  }

  /// Whether data may be lost if fsync() fails. Pipes, special files and files opened for reading
  /// only have nothing to sync. For others, EROFS means that the file system became read-only after
  /// a fault and that data did not reach the disk. Keeps errno.
  bool may_have_unsynced_data() {
    const KeptErrno kept;
    struct stat status{};
    const bool is_regular = fstat(descriptor_.get(), &status) == 0 && S_ISREG(status.st_mode);
    const bool is_written = (fcntl(descriptor_.get(), F_GETFL) & O_ACCMODE) != O_RDONLY;
    return is_regular && is_written;
  }

  static struct flock lock_range(FileOffset begin, FileOffset end, LockMode mode) {
    struct flock range{};
    range.l_type = mode == LockMode::none ? F_UNLCK : mode == LockMode::shared ? F_RDLCK : F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = begin;
    range.l_len = end - begin;
    return range;
  }

  Error failure(const char* what) { return system_failure(errno, what, path_); }

  /// Returns an errno, or 0. For files in memory, some kernels start over at each signal: a timer
  /// of the program could keep the call from ending.
  int allocate_at_once(ByteCount size) {
    const BlockedSignals blocked;
    while (fallocate(descriptor_.get(), 0, 0, size) != 0) {
      if (errno != EINTR) return errno;
    }
    return 0;
  }

  /// For file systems without fallocate: writes zeros beyond the present end. Holes below remain,
  /// since filling them would mean reading and rewriting others' data.
  Error allocate_by_writing(ByteCount size, ByteCount known) {
    Result<ByteCount> present = this->size();
    if (!present) return present.error();
    static constexpr std::size_t block = 1 << 16;
    static const std::array<char, block> zeros{};
    for (FileOffset at = std::max(present.value(), known); at < size;) {
      const auto len = static_cast<std::size_t>(std::min<ByteCount>(block, size - at));
      const iovec segment{const_cast<char*>(zeros.data()), len};
      const Transferred done = write(at, {&segment, 1});
      if (done.system_error != 0) {
        return system_failure(done.system_error, "cannot allocate space for", path_);
      }
      at += done.bytes;
    }
    return {};
  }

  HeldDescriptor descriptor_;
  Created created_;
  std::int64_t file_number_ = 0;
  std::uint64_t device_ = 0;
  std::string path_;  ///< for messages
  DirectoryEntry entry_;
  RealignedReads realigned_{settings().realign_reads};
  DirectIo direct_;
  WriteTurn turn_;
  std::atomic<bool> has_waited_ = false;
  std::atomic<bool> refuses_lock_ahead_ = false;
  std::atomic<FileOffset> unlimited_below_ = 0;
};

class PosixFileSystem : public FileSystem {
 public:
  Result<std::unique_ptr<Store>> open(const std::string& path, OpenFlags flags) override {
    int how = O_CLOEXEC | (flags.read && flags.write ? O_RDWR : flags.write ? O_WRONLY : O_RDONLY);
    if (flags.create) how |= O_CREAT;
    if (flags.exclusive) how |= O_EXCL;
    // Before the file is opened: without memory the descriptor would be lost.
    auto store = std::make_unique<PosixStore>(full_name(path));
    const Created created = open_or_create(path, how, flags);
    const int descriptor = created.descriptor;
    if (descriptor < 0) return system_failure(errno, "cannot open", path);
    struct stat status{};
    const bool is_directory = fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
    // Before it may get another number.
    advise(descriptor, flags.style);
    if (!store->take(created, status)) return system_failure(errno, "cannot open", path);
    if (is_directory) {
      return system_failure(EISDIR, "cannot open", path);
    }
    if (flags.is_direct) store->pass_cache();
    const int lost = flags.is_deleted_later ? store->take_entry(path) : 0;
    if (lost != 0) return system_failure(lost, "cannot open", path);
    return slowed(std::move(store), mimicked_delays());
  }

  std::string full_name(const std::string& path) override { return absolute_name(path); }

 private:
  static Created open_or_create(const std::string& path, int how, const OpenFlags& flags) {
    const StripingHints striping = flags.create ? flags.striping : StripingHints{};
    if (!flags.create || !flags.permissions) return create_striped(path, how, 0666, striping);
    // Only of a file that this call makes are the permissions this call's affair.
    const auto wanted = static_cast<mode_t>(*flags.permissions);
    const Created created = create_striped(path, how | O_EXCL, wanted, striping);
    // The umask has taken some off. Where the file system has no permissions it stays as it is.
    if (created.descriptor >= 0) static_cast<void>(fchmod(created.descriptor, wanted));
    if (created.descriptor >= 0 || errno != EEXIST || flags.exclusive) return created;
    return create_striped(path, how, wanted, striping);
  }

  static void advise(int descriptor, Style style) {
    if (style == Style::usual) return;
    const bool is_random = style == Style::random;
    // What cannot be advised is read as usual.
    static_cast<void>(
        posix_fadvise(descriptor, 0, 0, is_random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL));
  }
};

}  // namespace

Result<std::unique_ptr<Store>> Store::reopen_to_read() {
  return Error{ErrorClass::unsupported_operation, 0,
               "cannot open the file anew (its kind does not allow it), open it by its name"};
}

FileSystem& posix_file_system() {
  // Never destroyed: usable during exit. Takes no memory, since the other ranks wait at open for a
  // rank that has none.
  alignas(PosixFileSystem) static std::byte place[sizeof(PosixFileSystem)];
  static auto* const instance = new (place) PosixFileSystem;
  return *instance;
}

}  // namespace headrace::storage
