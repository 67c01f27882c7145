#pragma once

#include <string_view>

#include "record/access_table.h"

/// Under which name a file is counted.
namespace headrace::posix {

/// Whether a name is a device's, which is no file.
bool is_device_name(std::string_view name);

/// The counts of a file that the program names from the directory `directory`, a descriptor or
/// AT_FDCWD. `end` is put behind the name. Takes little stack. May change errno.
record::AccessTable::Found find_file(record::AccessLayer layer, int directory,
                                     std::string_view name, std::string_view end) noexcept;

/// The same of one that a descriptor leads to. May change errno.
record::AccessTable::Found find_linked_file(record::AccessLayer layer, int descriptor) noexcept;

/// A name in a room of its own, while it lives; empty if all rooms are in use.
class KeptName {
 public:
  ~KeptName();
  KeptName(const KeptName&) = delete;
  KeptName& operator=(const KeptName&) = delete;

  std::string_view text() const { return text_; }
  std::string_view text_or(std::string_view other) const { return text_.empty() ? other : text_; }

 protected:
  KeptName() = default;

  void* place_ = nullptr;
  std::string_view text_;
};

/// The full name of such a file, as far as there is room for it. May change errno.
class FullName : public KeptName {
 public:
  FullName(int directory, std::string_view name) noexcept;
};

/// That of a file that a descriptor leads to, ended by a zero. May change errno.
class LinkedName : public KeptName {
 public:
  explicit LinkedName(int descriptor) noexcept;
};

}  // namespace headrace::posix
