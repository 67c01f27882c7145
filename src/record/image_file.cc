#include "record/image_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "base/file_size_guard.h"
#include "base/no_cancellation.h"
#include "base/rounding.h"
#include "record/clock.h"
#include "record/image_owner.h"
#include "record/private_directory.h"

namespace headrace::record {
namespace {

/// What is set aside in the file system at a time.
constexpr std::uint64_t kStep = std::uint64_t{64} << 10;
constexpr std::uint32_t kNoteBytes = 8 << 10;
constexpr std::uint64_t kLeastCapacity = std::uint64_t{256} << 10;
constexpr std::int64_t kPause = 5'000'000'000;  // ns

/// Returns 0 or the errno. tmpfs gives up where a signal waits to be handled, such as a timer's.
int set_aside(int descriptor, off_t begin, off_t length) {
  constexpr int kMostAttempts = 100;
  int code = EINTR;
  for (int i = 0; i < kMostAttempts && code == EINTR; ++i) {
    code = posix_fallocate(descriptor, begin, length);
  }
  return code;
}

/// Sets the first step aside, and makes the file as large as `capacity`, or as a limit on file
/// sizes allows: `capacity` is then what it was made.
bool set_size(int descriptor, std::uint64_t& capacity) {
  const FileSizeGuard guard;
  if (set_aside(descriptor, 0, static_cast<off_t>(kStep)) != 0) return false;
  while (ftruncate(descriptor, static_cast<off_t>(capacity)) != 0) {
    if (errno != EFBIG || capacity / 2 < kLeastCapacity) return false;
    capacity /= 2;
  }
  return true;
}

/// Another job that ends may remove the first before the second is in it. `is_new`: whether the
/// second was not there.
Error make_folders(const std::string& directory, const std::string& folder, bool& is_new) {
  Error failed;
  for (int attempt = 0; attempt < 3; ++attempt) {
    failed = make_private_directory(directory);
    if (!failed) {
      is_new = access(folder.c_str(), F_OK) != 0;
      failed = make_private_directory(folder);
    }
    if (failed.system_error != ENOENT) break;
  }
  return failed;
}

}  // namespace

/// The notes of each kind that are there, by their fields.
struct ImageFile::Notes {
  std::map<std::pair<NoteKind, std::string>, std::uint32_t> numbers;
  std::map<NoteKind, std::uint32_t> counts;
};

std::vector<std::string> image_directories(const std::string& first) {
  std::vector<std::string> found;
  if (first.starts_with('/')) found.push_back(first);
  found.emplace_back("/dev/shm");
  if (const char* const own = std::getenv("TMPDIR"); own != nullptr && own[0] == '/') {
    found.emplace_back(own);
  }
  found.emplace_back("/tmp");
  for (std::string& each : found) each += "/headrace-record-" + std::to_string(geteuid());
  return found;
}

void remove_job_directory(const std::string& job) {
  if (rmdir(job.c_str()) == 0) rmdir(job.substr(0, job.rfind('/')).c_str());
}

Result<std::unique_ptr<ImageFile>> ImageFile::make(std::span<const std::string> directories,
                                                   const std::string& job, const std::string& name,
                                                   std::uint64_t capacity) {
  const NoCancellation uncancelled;
  Error last{ErrorClass::no_space, 0, "no directory for the recorder's memory"};
  for (const std::string& directory : directories) {
    const std::string folder = directory + "/" + job;
    bool is_new = false;
    if (Error failed = make_folders(directory, folder, is_new)) {
      last = std::move(failed);
      continue;
    }
    const std::string path = folder + "/" + name;
    int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0 && errno == EEXIST && put_aside(path)) {
      descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    if (descriptor < 0) {
      last = system_failure(errno, "cannot make the recorder's memory", path);
      continue;
    }
    const bool has_room = set_size(descriptor, capacity);
    void* const memory =
        has_room ? mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                 : MAP_FAILED;
    if (memory == MAP_FAILED) {
      close(descriptor);
      unlink(path.c_str());
      rmdir(folder.c_str());
      last = {ErrorClass::no_space, ENOSPC, {"there is no room for the recorder in ", directory}};
      continue;
    }
    struct stat status{};
    fstat(descriptor, &status);
    close(descriptor);
    std::unique_ptr<ImageFile> made(new ImageFile(static_cast<std::byte*>(memory), capacity, path));
    made->is_first_of_job_ = is_new;
    made->device_ = status.st_dev;
    made->inode_ = status.st_ino;
    return made;
  }
  return last;
}

ImageFile::ImageFile(std::byte* memory, std::uint64_t capacity, std::string path)
    : memory_(memory),
      capacity_(capacity),
      path_(std::move(path)),
      allocated_(kStep),
      known_(std::make_unique<Notes>()) {
  ImageHeader& own = header();
  own.header_size = round_up<std::uint32_t>(sizeof(ImageHeader), 64);
  own.row_size = sizeof(Row);
  own.capacity = capacity;
  own.size = own.header_size;
}

ImageFile::~ImageFile() {
  munmap(memory_, capacity_);
}

void ImageFile::remove() {
  unlink(path_.c_str());
  remove_job_directory(path_.substr(0, path_.rfind('/')));
}

/// A store into a page that the file system cannot back would end the program. What has no room is
/// asked for again after a while: each call of the program may ask.
bool ImageFile::make_room(std::uint64_t size) {
  if (size <= allocated_) return true;
  const std::uint64_t wanted = std::min(round_up(size, kStep), capacity_);
  if (wanted < size) return false;
  const std::int64_t now = monotonic_ns();
  if (refused_at_ != 0 && now - refused_at_ < kPause) return false;
  if (allocate_to(wanted)) return true;
  refused_at_ = now;
  return false;
}

bool ImageFile::allocate_to(std::uint64_t size) {
  const NoCancellation uncancelled;
  const FileSizeGuard guard;
  const int descriptor = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool is_done =
      is_at_path(descriptor) && set_aside(descriptor, static_cast<off_t>(allocated_),
                                          static_cast<off_t>(size - allocated_)) == 0;
  close(descriptor);
  if (is_done) allocated_ = size;
  return is_done;
}

/// Somebody may have removed the file, and another one may have its name.
bool ImageFile::is_at_path(int descriptor) const {
  struct stat status{};
  return fstat(descriptor, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

ExtentHeader* ImageFile::take_locked(ExtentKind kind, std::uint32_t thread, std::uint32_t item_size,
                                     std::uint32_t capacity) {
  ImageHeader& own = header();
  const std::uint64_t begin = own.size.load(std::memory_order_relaxed);
  const std::uint64_t bytes =
      round_up<std::uint64_t>(sizeof(ExtentHeader) + std::uint64_t{item_size} * capacity, 64);
  if (begin + bytes > capacity_ || !make_room(begin + bytes)) return nullptr;
  auto* const extent =
      new (memory_ + begin) ExtentHeader{kind, thread, item_size, capacity, 0, 0, bytes};
  own.size.store(begin + bytes, std::memory_order_release);
  return extent;
}

ExtentHeader* ImageFile::take(ExtentKind kind, std::uint32_t thread, std::uint32_t item_size,
                              std::uint32_t capacity) {
  if (!is_ours()) return nullptr;
  const std::lock_guard lock(mutex_);
  return take_locked(kind, thread, item_size, capacity);
}

ExtentHeader* ImageFile::try_take(ExtentKind kind, std::uint32_t item_size,
                                  std::uint32_t capacity) {
  if (!is_ours()) return nullptr;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock ? take_locked(kind, kNone, item_size, capacity) : nullptr;
}

bool ImageFile::append(std::span<const std::byte> note) {
  if (notes_ == nullptr || notes_->used + note.size() > notes_->capacity) {
    const auto capacity = std::max<std::uint32_t>(kNoteBytes, note.size());
    ExtentHeader* const extent = take_locked(ExtentKind::notes, kNone, 1, capacity);
    if (extent == nullptr) return false;
    notes_ = extent;
  }
  std::byte* const end = reinterpret_cast<std::byte*>(notes_ + 1) + notes_->used;
  std::memcpy(end, note.data(), note.size());
  notes_->used.fetch_add(static_cast<std::uint32_t>(note.size()), std::memory_order_release);
  return true;
}

std::uint32_t ImageFile::note(NoteKind kind, std::span<const std::string_view> fields) {
  if (!is_ours()) return kNone;
  std::string text;
  for (const std::string_view field : fields) {
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(field.size(), 4096));
    text.append(reinterpret_cast<const char*>(&length), sizeof length);
    text.append(field.substr(0, length));
  }
  const std::lock_guard lock(mutex_);
  const auto key = std::make_pair(kind, text);
  if (const auto found = known_->numbers.find(key); found != known_->numbers.end()) {
    return found->second;
  }
  std::vector<std::byte> bytes(round_up<std::size_t>(sizeof(NoteHeader) + text.size(), 8));
  const NoteHeader header{static_cast<std::uint32_t>(sizeof(NoteHeader) + text.size()), kind,
                          static_cast<std::uint16_t>(fields.size())};
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, text.data(), text.size());
  if (!append(bytes)) return kNone;
  const std::uint32_t number = known_->counts[kind]++;
  known_->numbers.emplace(key, number);
  return number;
}

}  // namespace headrace::record
