#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace headrace::storage {

/// The text of a file such as those of /proc, while it lives; empty if that cannot be read. It
/// takes no memory of the heap, so that signal handlers may read one. Keeps errno.
class MappedText {
 public:
  explicit MappedText(const char* path) noexcept;
  ~MappedText();
  MappedText(const MappedText&) = delete;
  MappedText& operator=(const MappedText&) = delete;

  std::string_view text() const { return {memory_, size_}; }
  /// The same, to be changed.
  std::span<char> bytes() { return {memory_, size_}; }

 private:
  bool grow() noexcept;

  char* memory_ = nullptr;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
};

}  // namespace headrace::storage
