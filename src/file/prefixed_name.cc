#include "file/prefixed_name.h"

#include <algorithm>

namespace headrace::file {
namespace {

/// ROMIO's prefixes (src/mpi/romio/adio/common/ad_fstype.c) for mounted file systems ...
constexpr std::string_view kMounted[] = {"ufs", "nfs",   "xfs",     "lustre",    "gpfs",
                                         "bgl", "panfs", "panasas", "bglockless"};
/// ... and those for file systems with an interface of their own.
constexpr std::string_view kForeign[] = {"pvfs",   "pvfs2",   "ftp", "gsiftp", "daos",
                                         "testfs", "quobyte", "ime", "zoidfs"};

bool is_among(std::string_view name, const auto& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::optional<std::string_view> path_of(std::string_view file_name) {
  const std::size_t colon = file_name.find(':');
  if (colon == std::string_view::npos) return file_name;
  const std::string_view prefix = file_name.substr(0, colon);
  if (is_among(prefix, kForeign)) return std::nullopt;
  return is_among(prefix, kMounted) ? file_name.substr(colon + 1) : file_name;
}

}  // namespace headrace::file
