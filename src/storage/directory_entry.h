#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "base/held_descriptor.h"
#include "base/result.h"

namespace headrace::storage {

/// The directory entry through which a file was opened, so that it can be deleted later. The name
/// as the program gave it may lead elsewhere by then: the program changed its working directory,
/// renamed a directory or the file, or mounted something on the way.
class DirectoryEntry {
 public:
  /// Takes the entry at `path`, through which `descriptor` was opened just now. Returns 0 or the
  /// errno.
  int take(const std::string& path, int descriptor);
  bool is_taken() const { return directory_ != nullptr; }

  /// To be called before `descriptor` is closed, for remove(): while a file is open or held no
  /// other one gets its number.
  void hold(int descriptor);

  /// Deletes the entry, which messages call `path`. An error where the name is gone or has become
  /// another file's, which stays (ErrorClass::no_such_file), or where the program closed what was
  /// held.
  ///
  /// Of a symbolic link the link is deleted and its target stays, as ROMIO and OMPIO do: a name is
  /// what is deleted. A file that has a new name keeps it, as with them.
  Error remove(const std::string& path);

 private:
  int find(int descriptor);
  int unlink();

  std::shared_ptr<const HeldDescriptor> directory_;
  std::string name_;  ///< within the directory
  bool is_link_ = false;
  HeldDescriptor link_;  ///< none where the name led elsewhere when it was taken
  // From hold() on.
  int failed_ = EBADF;  ///< why there is nothing to delete
  std::uint64_t device_ = 0;
  std::uint64_t file_ = 0;
  HeldDescriptor entry_;
};

}  // namespace headrace::storage
