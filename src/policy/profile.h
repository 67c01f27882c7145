#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/generated/costs.h"

namespace headrace::policy {

/// The costs of one file system, as `headrace tune` has measured them.
struct Profile {
  std::string path;         ///< of its file, for reasons
  std::string file_system;  ///< the kind, as storage::name_of_kind() has it
  std::string mount;        ///< where it is mounted; empty: wherever
  std::string processor;    ///< the model, as processor_name() has it; empty: any
  Costs costs = kMeasuredCosts;

  /// A hash of the costs.
  std::int64_t fingerprint() const;
};

/// A profile and lines on what in it does not count.
struct ReadProfile {
  Profile profile;
  bool counts = false;  ///< false: nothing of it counts, and `problems` tells why
  std::vector<std::string> problems;
};

/// Reads a profile in TOML (base/toml.h):
///
///     [profile]
///     format = 1
///     [machine]
///     processor = "AMD EPYC 7763"
///     [file_system]
///     kind = "lustre"
///     mount = "/scratch"
///     [write]                       # and [read], [common]
///     call = "5200 measured"
///     copy_piece = "4 built in"
///
/// Each cost is a number, which may be followed by where it is from. What is "built in" counts as
/// this library has it. What cannot be used is named, and the built-in cost counts for it.
ReadProfile parse_profile(std::string_view text, const std::string& path);

/// The costs that count.
inline const Costs& costs_of(const Profile* profile) {
  return profile == nullptr ? kMeasuredCosts : profile->costs;
}

/// "; costs are those of profile 'FILE'", or nothing without one. For the end of a reason.
std::string by_profile(const Profile* profile);

}  // namespace headrace::policy
