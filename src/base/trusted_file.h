#pragma once

#include <cstddef>
#include <string>

namespace headrace {

/// Most bytes of a file that read_trusted_file() reads if no other bound is given.
inline constexpr std::size_t kLargestTrusted = std::size_t{1} << 16;

/// Why a file's text is not to be had; empty if it is.
struct Refusal {
  bool is_missing = false;  ///< there is no such file
  std::string why;

  explicit operator bool() const { return !why.empty(); }
};

/// Reads a file into `text`, if nobody can have written it but root, this user, or whoever owns the
/// object that this code is in. Waits for nobody. A device such as /dev/null is an empty file.
Refusal read_trusted_file(const std::string& path, std::string& text,
                          std::size_t most = kLargestTrusted);

/// What to do about a refused file.
std::string remedy_of(const Refusal& refusal, const std::string& path);

/// The path with the user's home directory for a leading "~/"; empty if there is none.
std::string with_home(const std::string& path);

/// The path without its last name: "." and "/" where there is nothing else.
std::string directory_of(const std::string& path);

}  // namespace headrace
