#include "record/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <ctime>
#include <utility>

#include "base/file_size_guard.h"
#include "base/uninterrupted.h"

namespace headrace::record {
namespace {

constexpr int kMostNumbers = 10000;

/// Of a path the last part, with letters, digits and `.-_+@` only, and no dot in front.
std::string base_name(std::string_view path) {
  constexpr std::size_t kMost = 60;
  std::string name(path.substr(path.rfind('/') + 1).substr(0, kMost));
  for (char& c : name) {
    const bool is_fit = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                        std::string_view(".-_+@").find(c) != std::string_view::npos;
    if (!is_fit) c = '_';
  }
  if (name.starts_with('.')) name[0] = '_';
  return name;
}

/// With the directories above it. `is_new`: whether it was not there.
Error make_directory(const std::string& path, bool& is_new) {
  is_new = ::mkdir(path.c_str(), 0777) == 0;
  if (is_new || errno == EEXIST) return {};
  const std::size_t slash = path.find_last_not_of('/') == std::string::npos
                                ? std::string::npos
                                : path.rfind('/', path.find_last_not_of('/'));
  if (errno == ENOENT && slash != std::string::npos && slash > 0) {
    if (Error failed = make_directory(path.substr(0, slash), is_new)) return failed;
    is_new = ::mkdir(path.c_str(), 0777) == 0;
    if (is_new || errno == EEXIST) return {};
  }
  return system_failure(errno, "cannot make the directory of the records", path);
}

bool has_two_names(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && status.st_nlink == 2;
}

}  // namespace

std::string record_name(std::string_view program, std::string_view job, std::int64_t ranks,
                        std::int64_t nodes, std::int64_t start) {
  const auto seconds = static_cast<std::time_t>(start / 1'000'000'000);
  std::tm local{};
  std::array<char, 32> time{};
  if (::localtime_r(&seconds, &local) != nullptr) {
    std::strftime(time.data(), time.size(), "%Y%m%dT%H%M%S", &local);
  }
  std::string name = base_name(program);
  if (name.empty()) name = "program";
  if (const std::string number = base_name(job); !number.empty()) name += "." + number;
  name += "." + std::to_string(ranks) + "p" + std::to_string(nodes) + "n.";
  return name + time.data();
}

Result<RecordFile> RecordFile::make(const std::string& directory, const std::string& name) {
  bool is_new = false;
  if (Error failed = make_directory(directory, is_new)) return failed;
  OwnDirectory own(is_new ? directory : "");
  const std::string hidden = directory + "/." + name + "." + std::to_string(::getpid()) + ".part";
  ::unlink(hidden.c_str());  // a process of the same number left it
  const int descriptor = uninterrupted([&] {
    return ::open(hidden.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  });
  if (descriptor < 0) return system_failure(errno, "cannot write a record in", directory);
  RecordFile file(std::move(own), descriptor, directory + "/" + name, hidden);
  if (Error failed = file.write(record_front())) return failed;
  return file;
}

RecordFile::OwnDirectory::~OwnDirectory() {
  if (!path_.empty()) ::rmdir(path_.c_str());
}

RecordFile::RecordFile(OwnDirectory directory, int descriptor, std::string path, std::string hidden)
    : own_directory_(std::move(directory)),
      descriptor_(descriptor),
      path_(std::move(path)),
      hidden_(std::move(hidden)) {}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : own_directory_(std::move(other.own_directory_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      hidden_(std::exchange(other.hidden_, {})),
      sections_(other.sections_) {}

RecordFile::~RecordFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!hidden_.empty()) ::unlink(hidden_.c_str());
}

Error RecordFile::write(std::string_view bytes) {
  const FileSizeGuard guard;
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (count < 0) return system_failure(errno, "cannot write the record", path_ + ".hrc");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

/// Some file systems tell only here that there was no space.
Error RecordFile::close() {
  if (::close(std::exchange(descriptor_, -1)) == 0 || errno == EINTR) return {};
  return system_failure(errno, "cannot write the record", path_ + ".hrc");
}

Error RecordFile::add(const Sections& sections) {
  sections_ += sections.count;
  return write(sections.bytes);
}

/// Returns 0 or the errno: EEXIST if the name is taken.
int RecordFile::publish(const std::string& path) {
  // An answer of NFS may be lost; what was asked again then exists.
  if (::link(hidden_.c_str(), path.c_str()) == 0 || (errno == EEXIST && has_two_names(hidden_))) {
    ::unlink(hidden_.c_str());
    return 0;
  }
  if (errno == EEXIST) return EEXIST;
  // A file system without hard links. The name is taken first, so that only ours is replaced.
  const int taken = uninterrupted([&] {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  });
  if (taken < 0) return errno;
  ::close(taken);
  if (::rename(hidden_.c_str(), path.c_str()) == 0) return 0;
  const int failed = errno;
  ::unlink(path.c_str());
  return failed;
}

Result<std::string> RecordFile::finish() {
  if (Error failed = write(record_end(sections_))) return failed;
  if (Error failed = close()) return failed;
  int failed = EEXIST;
  std::string path;
  for (int number = 1; failed == EEXIST && number < kMostNumbers; ++number) {
    path = path_ + (number == 1 ? "" : "-" + std::to_string(number)) + ".hrc";
    failed = publish(path);
  }
  if (failed != 0) return system_failure(failed, "cannot name the record", path);
  hidden_.clear();
  own_directory_.keep();
  return path;
}

}  // namespace headrace::record
