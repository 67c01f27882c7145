#include <fnmatch.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cerrno>

#include "base/process_environment.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "base/trusted_file.h"

namespace headrace {
namespace {

/// All that a process has from the places of settings.
struct Found {
  Settings settings;
  SettingsFile site;
  SettingsFile user;
  std::vector<std::string> problems;
};

SettingsFile file_of(const std::string& setting, bool is_given) {
  const std::string path = with_home(setting);
  return path.empty() ? SettingsFile() : read_settings_file(path, is_given);
}

SettingLayer layer_of(const SettingsFile& file, Origin origin) {
  return {origin, " ('" + printable(file.path) + "')", file.settings};
}

/// Whether the layer is to stay off in programs of this name.
bool is_left_out(const Settings& settings, const char* program) {
  return std::ranges::any_of(settings.disable_for, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), program, FNM_CASEFOLD) == 0;
  });
}

Found* find_settings() {
  auto* const found = new Found;  // never destroyed: usable during exit
  if (has_raised_privileges()) {
    found->settings.disable = true;
    return found;
  }
  std::vector<std::string> repeated;
  const Settings own = read_settings(process_environment(), repeated);
  if (!own.disable) {
    found->site = file_of(own.site, own.gives("HEADRACE_SITE"));
    found->user = file_of(own.user, own.gives("HEADRACE_USER"));
  }
  for (const SettingsFile* const file : {&found->site, &found->user}) {
    found->problems.insert(found->problems.end(), file->problems.begin(), file->problems.end());
  }
  found->settings =
      read_settings(process_environment(), found->problems,
                    {layer_of(found->site, Origin::site), layer_of(found->user, Origin::user)});
  if (is_left_out(found->settings, program_invocation_short_name)) found->settings.disable = true;
  return found;
}

const Found& found_settings() {
  static const Found* const found = find_settings();
  return *found;
}

}  // namespace

bool has_raised_privileges() {
  return getauxval(AT_SECURE) != 0;
}

const Settings& settings() {
  return found_settings().settings;
}

const SettingsFile& site_file() {
  return found_settings().site;
}

const SettingsFile& user_file() {
  return found_settings().user;
}

const std::vector<std::string>& settings_problems() {
  return found_settings().problems;
}

}  // namespace headrace
