#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "base/held_descriptor.h"
#include "base/result.h"

namespace headrace::storage {

/// The directory entry through which a file was opened, so that it can be deleted later. The
/// program's name for it may lead elsewhere by then: the program may have changed its working
/// directory, renamed a directory or the file, or mounted something on the way.
class DirectoryEntry {
 public:
  /// Takes the entry at `path`, through which `descriptor` has just been opened. Returns 0 or an
  /// errno.
  int take(const std::string& path, int descriptor);
  bool is_taken() const { return directory_ != nullptr; }

  /// Call before `descriptor` is closed, if remove() follows: holds the file, since no other file
  /// gets its inode number while it is open or held.
  void hold(int descriptor);

  /// Deletes the entry; messages call it `path`. Errors: the name is gone or belongs to another
  /// file by now, which stays (ErrorClass::no_such_file); the program closed a descriptor that was
  /// held.
  ///
  /// A symbolic link is deleted and its target stays, as with ROMIO and OMPIO. A file that was
  /// renamed keeps its new name, as with them.
  Error remove(const std::string& path);

 private:
  int find(int descriptor);
  int unlink();

  std::shared_ptr<const HeldDescriptor> directory_;
  std::string name_;  ///< within the directory
  bool is_link_ = false;
  HeldDescriptor link_;  ///< empty if the name led elsewhere when it was taken
  // Set by hold().
  int failed_ = EBADF;  ///< why there is nothing to delete
  std::uint64_t device_ = 0;
  std::uint64_t file_ = 0;
  HeldDescriptor entry_;
};

}  // namespace headrace::storage
