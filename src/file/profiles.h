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
  bool is_asked_for = false;  ///< HEADRACE_PROFILE names the only one
  std::vector<std::string> problems;

  /// A hash of all of them; 0 if there are none.
  std::int64_t fingerprint() const;
};

/// Where profiles are looked for.
struct ProfilePlaces {
  std::string asked_for;                 ///< a file; "none": no profile counts; empty: not said
  std::vector<std::string> directories;  ///< best first; all their files *.toml
};

/// Reads them. Those that somebody else may have written are left out, and those of another
/// processor than `processor` tells (without a word if they were not asked for). It is called only
/// if there are profiles.
Profiles read_profiles(const ProfilePlaces& places, std::string (*processor)());

/// Which of them holds for a file system, counted from 1; 0: none. `mount` is where it is mounted,
/// empty if unknown. A profile that names the mount goes before one that does not.
int find_profile(const Profiles& profiles, std::string_view kind, std::string_view mount);

/// Those of this process, read at the first call.
const Profiles& own_profiles();

/// Which of own_profiles() holds for the file at `path`, which this process has opened; as
/// find_profile(). Says once why that of HEADRACE_PROFILE does not.
int profile_of_file(const std::string& path, const storage::Layout& layout);

/// Profile `number` of own_profiles(); null for 0.
const policy::Profile* own_profile(int number);

}  // namespace headrace::file
