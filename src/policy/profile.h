#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/generated/costs.h"

namespace headrace::policy {

/// Pieces of so many bytes, both ends included.
struct PieceRange {
  double first = 0;
  double last = 0;
};

/// The costs of one file system, as `headrace tune` has measured them.
struct Profile {
  std::string path;         ///< of its file, for reasons
  std::string file_system;  ///< the kind, as storage::name_of_kind() has it
  std::string mount;        ///< where it is mounted; empty: wherever
  std::string processor;    ///< the model, as processor_name() has it; empty: any
  int node_ranks = 0;       ///< the ranks of a node that it was measured with
  int nodes = 1;            ///< the nodes that it was measured with
  /// Pieces for whose calls the costs count, since what is chosen by them was measured to be faster
  /// than what is chosen by the built-in ones.
  std::vector<PieceRange> write = {};
  std::vector<PieceRange> read = {};
  Costs costs = kMeasuredCosts;

  /// A hash of all that choices depend on.
  std::int64_t fingerprint() const;
};

/// Whether a profile counts for files of so many nodes, with so many ranks on each. Nothing is
/// concluded from few ranks on many.
bool has_enough_ranks(const Profile& profile, int node_ranks, int nodes);

/// Why it does not: "it is of 1 node with 2 ranks each, the file has ...".
std::string too_few_ranks(const Profile& profile, int node_ranks, int nodes);

/// The profile if its costs count for calls with pieces of so many bytes (their mean). Otherwise,
/// or without a profile: null, and the built-in costs count.
const Profile* counting(const Profile* profile, Direction direction, double piece);

/// A profile and lines on what in it does not count.
struct ReadProfile {
  Profile profile;
  bool counts = false;  ///< false: nothing of it counts, and `problems` tells why
  std::vector<std::string> problems;
};

/// Reads a profile in TOML (base/toml.h):
///
///     [profile]
///     format = 2
///     [machine]
///     processor = "AMD EPYC 7763"
///     node_ranks = 64
///     nodes = 1
///     [file_system]
///     kind = "lustre"
///     mount = "/scratch"
///     [choices]
///     write = "25600 to 524288"     # pieces in bytes; "none"; several ranges: "1 to 5, 9 to 12"
///     read = "none"
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

/// For people: the profile whose costs count, and for which pieces; "built in" without one.
std::string explain_costs(const Profile* profile);

/// "; costs are those of profile 'FILE'", or nothing without one. For the end of a reason.
std::string by_profile(const Profile* profile);

}  // namespace headrace::policy
