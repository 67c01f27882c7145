#include "file/hints.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "base/rounding.h"
#include "base/setting_rule.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "file/hint_table.h"

namespace headrace::file {
namespace {

using policy::PathHint;

constexpr ByteCount kDefaultSieveSize = ByteCount{1} << 20;
constexpr ByteCount kLargestSize = ByteCount{1} << 30;

PathHint path_hint_of(PathSetting setting) {
  switch (setting) {
    case PathSetting::direct: return PathHint::direct;
    case PathSetting::staged: return PathHint::staged;
    case PathSetting::exchanged: return PathHint::exchanged;
    case PathSetting::automatic: break;
  }
  return PathHint::automatic;
}

PathHint path_hint_of(const std::string& value) {
  const std::string text = lower_case(value);
  if (text == "staged") return PathHint::staged;
  // Any other library's name for collective buffering means exchanging, if there are several nodes.
  for (const std::string_view buffered : {"exchanged", "enable", "true", "yes", "on", "1"}) {
    if (text == buffered) return PathHint::exchanged;
  }
  for (const std::string_view direct : {"direct", "disable", "false", "no", "off", "0"}) {
    if (text == direct) return PathHint::direct;
  }
  return PathHint::automatic;
}

std::string_view name_of(PathHint hint) {
  switch (hint) {
    case PathHint::direct: return policy::name_of(policy::Path::direct);
    case PathHint::staged: return policy::name_of(policy::Path::staged);
    case PathHint::exchanged: return policy::name_of(policy::Path::exchanged);
    case PathHint::automatic: break;
  }
  return "automatic";
}

std::string_view romio_name_of(PathHint hint) {
  if (hint == PathHint::automatic) return "automatic";
  return hint == PathHint::direct ? "disable" : "enable";
}

const HintRule* find_rule(std::string_view name) {
  const auto* found = std::ranges::find(hint_table, name, &HintRule::name);
  return found == std::end(hint_table) ? nullptr : found;
}

std::string unknown_hint(const std::string& name) {
  std::array<std::string_view, std::size(hint_table)> names;
  std::ranges::transform(hint_table, names.begin(), &HintRule::name);
  const std::string_view nearest =
      nearest_name(std::string_view(name).substr(0, kMaxPrinted), names);
  const std::string line = "hint '" + printable(name) + "' is ignored (no hint has this name), ";
  if (nearest.empty()) return line + "docs/reference/hints.md lists them";
  return line + "did you mean '" + std::string(nearest) + "'?";
}

/// Octal digits, at most 777. The owner must be able to read and write, or no other rank could open
/// the file.
std::optional<storage::Permissions> permissions_of(std::string_view text) {
  storage::Permissions permissions = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), permissions, 8);
  if (error != std::errc{} || end != text.data() + text.size() || permissions > 0777) return {};
  if ((permissions & 0600) != 0600) return {};
  return permissions;
}

std::string check_styles(std::string_view text) {
  constexpr std::string_view kWords[] = {"read_once",    "write_once", "read_mostly",
                                         "write_mostly", "sequential", "reverse_sequential",
                                         "random"};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (std::ranges::find(kWords, text.substr(begin, end - begin)) == std::end(kWords)) {
      return "has a word that is none of MPI's (write such as read_once,sequential)";
    }
    begin = end + 1;
  }
  return {};
}

/// "", or why the value cannot be used: the rest of a sentence that begins with the value.
std::string check(const HintRule& rule, const std::string& value) {
  switch (rule.type) {
    case HintType::boolean: {
      bool ignored = false;
      return read_boolean(value, ignored);
    }
    case HintType::size: {
      ByteCount ignored = 0;
      return read_size(value, 0, std::numeric_limits<ByteCount>::max(), ignored);
    }
    case HintType::integer: {
      std::int64_t ignored = 0;
      return read_integer(value, 0, std::numeric_limits<std::int64_t>::max(), ignored);
    }
    case HintType::choice: {
      const std::string all = "|" + std::string(rule.choices) + "|";
      const bool is_one = value.find('|') == std::string::npos;
      if (is_one && all.find("|" + lower_case(value) + "|") != std::string::npos) return {};
      return "is not known (write one of " + std::string(rule.choices) + ")";
    }
    case HintType::text: return {};
    case HintType::hosts: {
      const auto list = plan::ConfigList::parse(value);
      return list ? std::string() : list.error().message;
    }
    case HintType::permissions:
      return permissions_of(value)
                 ? ""
                 : "is no octal number of permissions with 600 in it (write such as 640)";
    case HintType::styles: return check_styles(value);
  }
  return {};
}

/// Sets `value` from an integer hint.
void take_integer(const Hints& hints, const char* name, std::int64_t& value) {
  const auto found = hints.find(name);
  if (found == hints.end()) return;
  read_integer(found->second, 0, std::numeric_limits<std::int64_t>::max(), value);
}

void take_striping(const Hints& hints, HintValues& values) {
  take_integer(hints, "striping_factor", values.striping_factor);
  take_integer(hints, "romio_lustre_start_iodevice", values.start_device);
  take_integer(hints, "start_iodevice", values.start_device);
  take_integer(hints, "overstriping_count", values.overstriping_count);
}

void take_aggregators(const Hints& hints, HintValues& values) {
  auto alignment = static_cast<std::int64_t>(values.alignment);
  take_integer(hints, "cb_align", alignment);
  values.alignment = static_cast<plan::Alignment>(alignment);
  take_integer(hints, "cb_nodes", values.aggregators.count);
  take_integer(hints, "cray_cb_nodes_multiplier", values.aggregators.multiplier);
  take_integer(hints, "romio_lustre_co_ratio", values.aggregators.most_for_object);
  if (const auto hosts = hints.find("cb_config_list"); hosts != hints.end()) {
    values.hosts = plan::ConfigList::parse(hosts->second).value();
  }
  if (const auto mode = hints.find("cray_cb_write_lock_mode"); mode != hints.end()) {
    values.lock_ahead = mode->second == "2";
  }
  if (const auto ahead = hints.find("romio_lustre_cb_lock_ahead_write"); ahead != hints.end()) {
    read_boolean(ahead->second, values.lock_ahead);
  }
  if (const auto ahead = hints.find("headrace_lock_ahead"); ahead != hints.end()) {
    read_boolean(ahead->second, values.lock_ahead);
  }
}

void take_access(const Hints& hints, HintValues& values) {
  if (const auto reads = hints.find("romio_ds_read"); reads != hints.end()) {
    values.sieves_reads = lower_case(reads->second) != "disable";
  }
  if (const auto found = hints.find("file_perm"); found != hints.end()) {
    values.permissions = permissions_of(found->second);
  }
  if (const auto direct = hints.find("direct_io"); direct != hints.end()) {
    read_boolean(direct->second, values.passes_cache);
  }
  if (const auto styles = hints.find("access_style"); styles != hints.end()) {
    values.style = style_of(styles->second);
  }
}

/// Sets `value` from a size hint, at least `least`, and limited to what makes sense.
void take_size(const Hints& hints, const char* name, ByteCount least, ByteCount& value) {
  const auto found = hints.find(name);
  if (found == hints.end()) return;
  ByteCount size = 0;
  if (!read_size(found->second, 0, std::numeric_limits<ByteCount>::max(), size).empty()) return;
  if (size > 0) value = std::clamp(size, least, kLargestSize);
}

/// The first of `names` that asks for a path decides. A value "automatic" leaves the choice to the
/// next name: it may come from MPI_File_get_info, and the next from the program.
void take_path_hint(const Hints& hints, std::initializer_list<const char*> names, PathHint& hint) {
  for (const char* const name : names) {
    const auto found = hints.find(name);
    if (found == hints.end()) continue;
    hint = path_hint_of(found->second);
    if (hint != PathHint::automatic) return;
  }
}

}  // namespace

storage::Style style_of(const std::string& words) {
  const auto has = [all = "," + words + ","](const char* word) {
    return all.find(word) != std::string::npos;
  };
  if (has(",random,")) return storage::Style::random;
  return has(",sequential,") ? storage::Style::sequential : storage::Style::usual;
}

HintValues default_hint_values() {
  const Settings& set = settings();
  HintValues values;
  values.write_path = path_hint_of(set.write_path);
  values.read_path = path_hint_of(set.read_path);
  values.buffer_size = set.buffer_size;
  values.sieve_size = kDefaultSieveSize;
  values.alignment = static_cast<plan::Alignment>(set.cb_align);
  return values;
}

Hints take_settings(Origin origin, HintValues& values) {
  const HintValues set = default_hint_values();
  Hints taken;
  const auto take = [&](const char* name, const char* hint, auto HintValues::* member) {
    if (settings().origin_of(name) != origin) return;
    values.*member = set.*member;
    taken[hint] = name;
  };
  take("HEADRACE_WRITE_PATH", "headrace_write_path", &HintValues::write_path);
  take("HEADRACE_READ_PATH", "headrace_read_path", &HintValues::read_path);
  take("HEADRACE_BUFFER_SIZE", "cb_buffer_size", &HintValues::buffer_size);
  take("HEADRACE_CB_ALIGN", "cb_align", &HintValues::alignment);
  return taken;
}

Hints apply_hints(const Hints& hints, HintValues& values, std::vector<std::string>& problems) {
  Hints good;
  for (const auto& [name, value] : hints) {
    const HintRule* const rule = find_rule(name);
    if (rule == nullptr) {
      problems.push_back(unknown_hint(name));
      continue;
    }
    const std::string problem = check(*rule, value);
    if (problem.empty()) {
      good[name] = value;
    } else {
      problems.push_back("hint " + name + "='" + printable(value) + "' " + problem +
                         ", it is ignored");
    }
  }
  take_path_hint(good, {"headrace_write_path", "romio_cb_write", "collective_buffering"},
                 values.write_path);
  take_path_hint(good, {"headrace_read_path", "romio_cb_read", "collective_buffering"},
                 values.read_path);
  take_size(good, "cb_block_size", ByteCount{1} << 16, values.buffer_size);
  take_size(good, "cb_buffer_size", ByteCount{1} << 16, values.buffer_size);
  take_size(good, "striping_unit", 1, values.striping_unit);
  take_size(good, "ind_rd_buffer_size", kPage, values.sieve_size);
  take_striping(good, values);
  take_aggregators(good, values);
  take_access(good, values);
  return good;
}

Hints hints_of(const HintValues& values) {
  Hints hints{
      {"headrace_write_path", std::string(name_of(values.write_path))},
      {"headrace_read_path", std::string(name_of(values.read_path))},
      {"romio_cb_write", std::string(romio_name_of(values.write_path))},
      {"romio_cb_read", std::string(romio_name_of(values.read_path))},
      {"ind_rd_buffer_size", std::to_string(values.sieve_size)},
      {"cb_align", std::to_string(static_cast<int>(values.alignment))},
  };
  if (values.buffer_size > 0) hints["cb_buffer_size"] = std::to_string(values.buffer_size);
  if (values.striping_unit > 0) hints["striping_unit"] = std::to_string(values.striping_unit);
  return hints;
}

storage::StripingHints striping_of(const HintValues& values) {
  return {{values.striping_unit, values.striping_factor},
          values.start_device,
          values.overstriping_count};
}

Hints hints_of(const storage::Layout& layout) {
  Hints hints{{"headrace_file_system", storage::name_of_kind(layout.kind)},
              {"headrace_striping", storage::explain_striping(layout)}};
  if (layout.stripes.size > 0) hints["striping_unit"] = std::to_string(layout.stripes.size);
  if (layout.best_request > 0) {
    hints["headrace_request_size"] = std::to_string(layout.best_request);
  }
  if (layout.stripes.count > 0) hints["striping_factor"] = std::to_string(layout.stripes.count);
  return hints;
}

}  // namespace headrace::file
