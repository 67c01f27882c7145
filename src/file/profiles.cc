#include "file/profiles.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/fingerprint.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "base/trusted_file.h"
#include "policy/profile_name.h"
#include "storage/mounts.h"
#include "topo/node.h"

namespace headrace::file {
namespace {

constexpr std::string_view kNone = "none";
/// Of one directory.
constexpr std::size_t kMostProfiles = 64;

/// The files *.toml of a directory, sorted; none if it cannot be read.
std::vector<std::string> files_of(const std::string& directory) {
  std::vector<std::string> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return files;
  while (const dirent* const entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name.ends_with(".toml") && !name.starts_with('.')) files.push_back(directory + "/" + name);
  }
  std::ranges::sort(files);
  if (files.size() > kMostProfiles) files.resize(kMostProfiles);
  return files;
}

/// Adds the profile at `path`, if it counts, and what there is to say of it.
void add_profile(const std::string& path, std::string (*processor)(), Profiles& profiles) {
  std::string text;
  if (const Refusal refusal = read_trusted_file(path, text)) {
    profiles.problems.push_back(policy::profile_name(path) + " is ignored (" + refusal.why + "), " +
                                remedy_of(refusal, path));
    return;
  }
  policy::ReadProfile read = policy::parse_profile(text, path);
  for (std::string& problem : read.problems) profiles.problems.push_back(std::move(problem));
  if (!read.counts) return;
  const std::string& of = read.profile.processor;
  const std::string here = of.empty() ? of : processor();
  if (of == here) {
    profiles.all.push_back(std::move(read.profile));
  } else if (profiles.is_asked_for) {
    profiles.problems.push_back(policy::profile_name(path) + " is ignored (it is of '" +
                                printable(of) + "', this is '" + printable(here) +
                                "'), measure here with headrace tune");
  }
}

/// Beside a file of settings.
std::string place_beside(const std::string& setting) {
  const std::string file = with_home(setting);
  return file.empty() ? "" : directory_of(file) + "/profiles";
}

std::string mount_point(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  const auto mount = storage::mount_of(status.st_dev);
  return mount ? mount->point : "";
}

}  // namespace

std::int64_t Profiles::fingerprint() const {
  if (all.empty()) return 0;
  Fingerprint print;
  for (const policy::Profile& profile : all) print.add(profile.fingerprint());
  return print.value();
}

Profiles read_profiles(const ProfilePlaces& places, std::string (*processor)()) {
  Profiles profiles;
  if (places.asked_for == kNone) return profiles;
  profiles.is_asked_for = !places.asked_for.empty();
  if (profiles.is_asked_for) {
    add_profile(with_home(places.asked_for), processor, profiles);
    return profiles;
  }
  for (const std::string& directory : places.directories) {
    for (const std::string& file : files_of(directory)) add_profile(file, processor, profiles);
  }
  return profiles;
}

int find_profile(const Profiles& profiles, std::string_view kind, std::string_view mount) {
  int without_mount = 0;
  int number = 0;
  for (const policy::Profile& profile : profiles.all) {
    ++number;
    if (profile.file_system != kind) continue;
    if (!profile.mount.empty() && profile.mount == mount) return number;
    if (profile.mount.empty() && without_mount == 0) without_mount = number;
  }
  return without_mount;
}

const Profiles& own_profiles() {
  static const Profiles* const profiles = [] {
    ProfilePlaces places{settings().profile, {}};
    for (const std::string* const setting : {&settings().user, &settings().site}) {
      if (std::string place = place_beside(*setting); !place.empty()) {
        places.directories.push_back(std::move(place));
      }
    }
    // Never destroyed: usable during exit.
    return new Profiles(read_profiles(places, topo::processor_name));
  }();
  return *profiles;
}

int profile_of_file(const std::string& path, const storage::Layout& layout) {
  const Profiles& profiles = own_profiles();
  for (const std::string& problem : profiles.problems) print_message_once(problem);
  if (profiles.all.empty()) return 0;
  const std::string kind = storage::name_of_kind(layout.kind);
  const std::string mount = mount_point(path);
  const int found = find_profile(profiles, kind, mount);
  if (found == 0 && profiles.is_asked_for) {
    const policy::Profile& profile = profiles.all.front();
    print_message_once(policy::profile_name(profile.path) + " does not count for '" +
                       printable(path) + "' (it is of " + profile.file_system +
                       (profile.mount.empty() ? "" : " at '" + printable(profile.mount) + "'") +
                       ", the file is on " + kind + " at '" + printable(mount) +
                       "'), measure there with headrace tune");
  }
  return found;
}

const policy::Profile* own_profile(int number) {
  return number == 0 ? nullptr : &own_profiles().all[static_cast<std::size_t>(number) - 1];
}

}  // namespace headrace::file
