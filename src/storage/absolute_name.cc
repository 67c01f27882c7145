#include "storage/absolute_name.h"

#include <unistd.h>

#include <array>

#include "base/kept_errno.h"

namespace headrace::storage {
namespace {

constexpr std::size_t kLongest = 128;

}  // namespace

std::string joined_name(std::string_view folder, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  constexpr std::string_view kHere = "./";
  while (path.starts_with(kHere)) path.remove_prefix(kHere.size());
  std::string name(folder);
  if (!name.ends_with('/')) name += '/';
  return name.append(path);
}

std::string absolute_name(const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  const KeptErrno kept;
  std::array<char, kLongest> folder;
  // A directory outside the process's root has a name like "(unreachable)/here".
  if (getcwd(folder.data(), folder.size()) == nullptr || folder[0] != '/') return path;
  std::string name = joined_name(folder.data(), path);
  return name.size() <= kLongest ? name : path;
}

}  // namespace headrace::storage
