#include "storage/dvs.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace headrace::storage {
namespace {

bool may_users_choose(const Mount& mount) {
  return !mount.text("nouserenv");
}

/// Cray's scripts write "1__", which leaves room for longer numbers.
std::optional<std::int64_t> number_of(std::string_view text) {
  text = text.substr(0, text.find_last_not_of('_') + 1);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

DvsForwarding dvs_forwarding(const Mount& mount, std::string_view block_size,
                             std::string_view most_nodes) {
  DvsForwarding found;
  found.block = mount.number("blksize").value_or(0);
  const std::string_view servers = mount.text("nodename").value_or("");
  const std::int64_t server_count = servers.empty() ? 0 : 1 + std::ranges::count(servers, ':');
  std::int64_t nodes = mount.number("maxnodes").value_or(server_count);
  if (may_users_choose(mount)) {
    if (const auto own = number_of(block_size); own.value_or(0) > 0) found.block = *own;
    const auto own = number_of(most_nodes);
    const bool is_possible = own.value_or(0) > 0 && (server_count == 0 || *own <= server_count);
    if (is_possible) nodes = *own;
  }
  if (found.block < 0) found.block = 0;
  // One node: all of a file goes to a server that is chosen by its number (cluster parallel mode).
  if (nodes > 1 && !mount.text("loadbalance")) found.stripes = {found.block, nodes};
  return found;
}

DvsForwarding dvs_forwarding(const Mount& mount) {
  return dvs_forwarding(mount, variable("DVS_BLOCKSIZE"), variable("DVS_MAXNODES"));
}

bool dvs_keeps_nothing(const Mount& mount, std::string_view cache) {
  if (!mount.text("nocache") || (may_users_choose(mount) && cache == "on")) return false;
  if (mount.text("attrcache_timeout").value_or("0") != "0") return false;
  // Nodes reach the same bytes through different servers, each with a cache of its own.
  constexpr std::string_view kSeveralWays[] = {"loadbalance", "hash_on_nid", "noclusterfs"};
  return std::ranges::none_of(kSeveralWays,
                              [&](std::string_view word) { return mount.text(word).has_value(); });
}

bool dvs_keeps_nothing(const Mount& mount) {
  return dvs_keeps_nothing(mount, variable("DVS_CACHE"));
}

}  // namespace headrace::storage
