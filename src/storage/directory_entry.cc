#include "storage/directory_entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>

#include "base/uninterrupted.h"
#include "storage/held_directory.h"
#include "storage/store.h"

namespace headrace::storage {
namespace {

constexpr std::string_view kCannotDelete = "cannot delete";

/// Opens the entry itself, even if it is a symbolic link. Needs no permission to read or write it.
HeldDescriptor held_entry(int directory, const std::string& name) {
  constexpr int kFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  return HeldDescriptor(uninterrupted([&] { return openat(directory, name.c_str(), kFlags); }));
}

int status_of(int descriptor, struct stat& status) {
  return fstatat(descriptor, "", &status, AT_EMPTY_PATH);
}

bool are_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Whether a name, with links followed, leads to an open file.
bool leads_to(int directory, const std::string& name, int descriptor) {
  struct stat found{};
  struct stat opened{};
  return fstatat(directory, name.c_str(), &found, 0) == 0 && status_of(descriptor, opened) == 0 &&
         are_same(found, opened);
}

}  // namespace

int DirectoryEntry::take(const std::string& path, int descriptor) {
  const auto slash = path.rfind('/');
  const bool is_bare = slash == std::string::npos;
  name_ = is_bare ? path : path.substr(slash + 1);
  directory_ = hold_directory(is_bare ? "." : path.substr(0, slash + 1));
  if (directory_ == nullptr) return errno;
  const int directory = directory_->get();
  struct stat named{};
  is_link_ =
      fstatat(directory, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(named.st_mode);
  if (!is_link_) return 0;
  link_ = held_entry(directory, name_);
  if (!link_) return errno;
  // Another process may have replaced the link.
  if (!leads_to(directory, name_, descriptor)) link_ = {};
  return 0;
}

void DirectoryEntry::hold(int descriptor) {
  assert(directory_ != nullptr);  // take() comes first
  failed_ = find(descriptor);
  // If no descriptor is free, comparing device and inode numbers must do.
  if (failed_ == 0) entry_ = held_entry(directory_->get(), name_);
}

int DirectoryEntry::find(int descriptor) {
  if (!directory_->is_intact() || !link_.is_intact()) return EBADF;
  struct stat named{};
  struct stat own{};
  if (fstatat(directory_->get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (is_link_ && !link_) return EEXIST;
  if (status_of(is_link_ ? link_.get() : descriptor, own) != 0) return errno;
  device_ = own.st_dev;
  file_ = own.st_ino;
  return are_same(named, own) ? 0 : EEXIST;
}

int DirectoryEntry::unlink() {
  if (failed_ != 0) return failed_;
  if (!directory_->is_intact() || !entry_.is_intact()) return EBADF;
  struct stat named{};
  if (fstatat(directory_->get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  if (named.st_dev != device_ || named.st_ino != file_) return EEXIST;
  // Close first: NFS would rename a file that is held, and delete it later.
  entry_.close();
  // No system call deletes a name only if it belongs to a certain file: another process may still
  // change it in between.
  return unlinkat(directory_->get(), name_.c_str(), 0) == 0 ? 0 : errno;
}

Error DirectoryEntry::remove(const std::string& path) {
  const int failed = unlink();
  if (failed == 0) return {};
  if (failed != EEXIST) return system_failure(failed, kCannotDelete, path);
  return {ErrorClass::no_such_file,
          ENOENT,
          {kCannotDelete, " '", path,
           "' (the name is another file's now, which stays), delete the file by its new name"}};
}

Error remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  return system_failure(errno, kCannotDelete, path);
}

}  // namespace headrace::storage
