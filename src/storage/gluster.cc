#include "storage/gluster.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "storage/text.h"

namespace headrace::storage {
namespace {

/// Translators of the client that cache no data and no attributes of files. Others named
/// `performance/...` do, or are unknown.
constexpr std::array<std::string_view, 4> kKeepNothing = {
    "performance/io-threads", "performance/open-behind", "performance/readdir-ahead",
    "performance/nl-cache"};

constexpr ByteCount kUsualShard = ByteCount{64} << 20;
constexpr ByteCount kLargestShard = ByteCount{1} << 42;

/// Parses a size such as "64MB" or "4194304"; 0 if it is none.
ByteCount size_of(std::string_view text) {
  ByteCount number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || number < 0 || number > kLargestShard) return 0;
  const std::string_view unit = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
  const int shift = unit.empty() || unit == "B" ? 0
                    : unit == "KB"              ? 10
                    : unit == "MB"              ? 20
                    : unit == "GB"              ? 30
                    : unit == "TB"              ? 40
                                                : -1;
  if (shift < 0 || number > kLargestShard >> shift) return 0;
  return number << shift;
}

/// Whether the kernel is told to cache neither pages of files nor attributes.
bool keeps_nothing_in_kernel(std::string_view command_line) {
  bool keeps_no_pages = false;
  bool keeps_no_attributes = false;
  // The command line is a string in JSON.
  std::string words(command_line);
  std::ranges::replace_if(words, [](char letter) { return letter == '"' || letter == '\n'; }, ' ');
  for (std::string_view rest = words; !rest.empty();) {
    std::string_view value = take_until(rest, ' ');
    const std::string_view name = take_until(value, '=');
    if (name == "--direct-io-mode") {
      constexpr std::array<std::string_view, 5> kOn = {"enable", "on", "true", "yes", "1"};
      keeps_no_pages = std::ranges::count(kOn, value) > 0;
    } else if (name == "--attribute-timeout") {
      keeps_no_attributes = value == "0";
    }
  }
  return keeps_no_pages && keeps_no_attributes;
}

}  // namespace

GlusterVolume parse_gluster_volume(std::string_view volume_file, std::string_view command_line) {
  GlusterVolume volume;
  volume.is_coherent = keeps_nothing_in_kernel(command_line);
  bool has_types = false;
  bool is_sharded = false;
  while (!volume_file.empty()) {
    std::string_view line = take_until(volume_file, '\n');
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string_view word = take_until(line, ' ');
    if (word == "type") {
      has_types = true;
      if (line == "cluster/disperse" || line == "cluster/replicate") {
        volume.locks_whole_files = true;
      }
      if (line == "features/shard") is_sharded = true;
      if (line.starts_with("performance/") && std::ranges::count(kKeepNothing, line) == 0) {
        volume.is_coherent = false;
      }
    } else if (word == "option" && take_until(line, ' ') == "shard-block-size") {
      volume.shard = size_of(line);
    }
  }
  if (!has_types) return {};
  if (!is_sharded) {
    volume.shard = 0;
  } else if (volume.shard == 0) {
    volume.shard = kUsualShard;
  }
  return volume;
}

std::optional<GlusterVolume> gluster_volume(const std::string& mount_point) {
  const auto command_line = text_of(mount_point + "/.meta/cmdline");
  const auto volume_file = text_of(mount_point + "/.meta/graphs/active/volfile");
  if (!command_line || !volume_file) return std::nullopt;
  return parse_gluster_volume(*volume_file, *command_line);
}

}  // namespace headrace::storage
