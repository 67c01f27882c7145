#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/profile.h"
#include "storage/file_layout.h"

namespace headrace::file {

/// The profiles that may count in a process, best first: that of HEADRACE_PROFILE alone, or else
/// the user's and then the site's.
struct Profiles {
  std::vector<policy::Profile> all;
  bool is_asked_for = false;          ///< HEADRACE_PROFILE names the only one
  std::vector<std::string> problems;  ///< few, also where there are many
  std::int64_t fingerprint = 0;       ///< a hash of all of them; 0 if there are none
};

/// Where profiles are looked for.
struct ProfilePlaces {
  std::string asked_for;                 ///< a file; "none": no profile counts; empty: not said
  std::vector<std::string> directories;  ///< best first; all their files *.toml
};

/// Reads them. Those that somebody else may have written are left out, and those of another
/// processor than `processor` tells (without a word if they were not asked for). It is called at
/// most once, and only if there are profiles.
Profiles read_profiles(const ProfilePlaces& places, std::string (*processor)());

/// Which of them holds for a file system, counted from 1; 0: none. `mount` is where it is mounted,
/// empty if unknown. A profile that names the mount goes before one that does not.
int find_profile(const Profiles& profiles, std::string_view kind, std::string_view mount);

/// Those of this process, read at the first call. Throws std::bad_alloc, and reads them at the next
/// call then.
const Profiles& own_profiles();

/// Which of own_profiles() holds for files of a kind (see storage::Layout) on a device (see
/// storage::Store::device()), as find_profile(). Looks a device up once in a process: opens must
/// not get slower by a profile. Says once for a device why that of HEADRACE_PROFILE does not count,
/// and once what is wrong with any, in the job's first process.
int profile_on_device(int kind, std::uint64_t device);

/// Whether one of own_profiles() may hold for files on a device, whatever their kind is.
bool may_have_profile(std::uint64_t device);

/// Where a device is mounted; "" if unknown. Looks a device up once in a process.
std::string mount_of_device(std::uint64_t device);

/// Profile `number` of own_profiles(); null for 0.
const policy::Profile* own_profile(int number);

}  // namespace headrace::file
