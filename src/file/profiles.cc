#include "file/profiles.h"

#include <dirent.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/fingerprint.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "base/trusted_file.h"
#include "policy/profile_name.h"
#include "storage/mounts.h"
#include "topo/processor.h"

namespace headrace::file {
namespace {

constexpr std::string_view kNone = "none";
/// Of one directory.
constexpr std::size_t kMostProfiles = 64;
constexpr std::size_t kMostProblems = 8;

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

/// Reads profiles that are of this processor.
class ProfileReader {
 public:
  ProfileReader(std::string (*processor)(), Profiles& profiles)
      : processor_(processor), profiles_(profiles) {}

  /// Adds the profile at `path`, if it counts, and what there is to say of it.
  void add(const std::string& path) {
    std::string text;
    if (const Refusal refusal = read_trusted_file(path, text)) {
      note(policy::profile_name(path) + " is ignored (" + refusal.why + "), " +
           remedy_of(refusal, path));
      return;
    }
    policy::ReadProfile read = policy::parse_profile(text, path);
    for (std::string& problem : read.problems) note(std::move(problem));
    if (!read.counts) return;
    const std::string& of = read.profile.processor;
    if (of.empty() || of == here()) {
      profiles_.all.push_back(std::move(read.profile));
    } else if (profiles_.is_asked_for) {
      note(policy::profile_name(path) + " is ignored (it is of '" + printable(of) + "', this is '" +
           printable(here()) + "'), measure here with headrace tune");
    }
  }

  /// The last line tells of those that are left out.
  void finish() {
    Fingerprint print;
    for (const policy::Profile& profile : profiles_.all) print.add(profile.fingerprint());
    profiles_.fingerprint = profiles_.all.empty() ? 0 : print.value();
    if (left_out_ == 0) return;
    profiles_.problems.push_back(std::to_string(left_out_) +
                                 " more lines on profiles are left out, mend those above first");
  }

 private:
  void note(std::string problem) {
    if (profiles_.problems.size() < kMostProblems) {
      profiles_.problems.push_back(std::move(problem));
    } else {
      ++left_out_;
    }
  }
  const std::string& here() {
    if (!here_) here_ = processor_();
    return *here_;
  }

  std::string (*processor_)();
  Profiles& profiles_;
  std::optional<std::string> here_;
  std::size_t left_out_ = 0;
};

/// Beside a file of settings.
std::string place_beside(const std::string& setting) {
  const std::string file = with_home(setting);
  return file.empty() ? "" : directory_of(file) + "/profiles";
}

/// Where a device is mounted, and what has been found for it. Kept for as long as the process
/// lives: a device number that another file system gets meanwhile, where this one is unmounted in
/// the middle of a job, is not noticed.
struct KnownDevice {
  std::uint64_t device = 0;
  std::string mount = {};  ///< empty: unknown
  int kind = -1;           ///< of the files that were last asked for
  int profile = 0;         ///< for those
};

class Devices {
 public:
  /// `device`'s mount, by which `act` finds what it returns. One thread at a time.
  template <class Act>
  auto with(std::uint64_t device, Act act) {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(devices_, device, &KnownDevice::device);
    if (known != devices_.end()) return act(*known);
    const auto mount = device == 0 ? std::nullopt : storage::mount_of(device);
    devices_.push_back({device, mount ? mount->point : ""});
    return act(devices_.back());
  }

 private:
  std::mutex mutex_;
  std::deque<KnownDevice> devices_;
};

Devices& devices() {
  static auto& all = *new Devices;  // never destroyed: usable during exit
  return all;
}

void tell_problems(const Profiles& profiles) {
  static std::once_flag told;
  std::call_once(told, [&] {
    for (const std::string& problem : profiles.problems) print_job_message_once(problem);
  });
}

/// That a profile which was asked for does not count for files of a kind on a device.
std::string misfit(const policy::Profile& profile, const std::string& kind,
                   const std::string& mount) {
  const auto place = [](const std::string& of_kind, const std::string& at) {
    return printable(of_kind) + (at.empty() ? "" : " at '" + printable(at) + "'");
  };
  return policy::profile_name(profile.path) + " does not count for files on " + place(kind, mount) +
         " (it is of " + place(profile.file_system, profile.mount) +
         "), measure there with headrace tune";
}

}  // namespace

Profiles read_profiles(const ProfilePlaces& places, std::string (*processor)()) {
  Profiles profiles;
  if (places.asked_for == kNone) return profiles;
  profiles.is_asked_for = !places.asked_for.empty();
  ProfileReader reader(processor, profiles);
  if (profiles.is_asked_for) {
    reader.add(with_home(places.asked_for));
  } else {
    for (const std::string& directory : places.directories) {
      for (const std::string& file : files_of(directory)) reader.add(file);
    }
  }
  reader.finish();
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

int profile_on_device(int kind, std::uint64_t device) {
  const Profiles& profiles = own_profiles();
  tell_problems(profiles);
  if (profiles.all.empty()) return 0;
  return devices().with(device, [&](KnownDevice& known) {
    if (known.kind == kind) return known.profile;
    const std::string name = storage::name_of_kind(kind);
    const int found = find_profile(profiles, name, known.mount);
    if (found == 0 && profiles.is_asked_for) {
      print_job_message_once(misfit(profiles.all.front(), name, known.mount));
    }
    known.kind = kind;
    known.profile = found;
    return found;
  });
}

bool may_have_profile(std::uint64_t device) {
  const Profiles& profiles = own_profiles();
  if (profiles.all.empty()) return false;
  return devices().with(device, [&](const KnownDevice& known) {
    return std::ranges::any_of(profiles.all, [&](const policy::Profile& profile) {
      return profile.mount.empty() || profile.mount == known.mount;
    });
  });
}

std::string mount_of_device(std::uint64_t device) {
  return devices().with(device, [](const KnownDevice& known) { return known.mount; });
}

const policy::Profile* own_profile(int number) {
  return number == 0 ? nullptr : &own_profiles().all[static_cast<std::size_t>(number) - 1];
}

}  // namespace headrace::file
