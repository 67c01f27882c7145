#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exchange/file_channel.h"
#include "file/common_hints.h"
#include "file/file.h"
#include "file/hints.h"
#include "plan/aggregators.h"
#include "plan/domains.h"
#include "policy/path.h"
#include "policy/profile.h"
#include "storage/file_layout.h"

namespace headrace::file {

/// What all ranks of a file agree on, so that they choose the same paths without asking each other.
struct Agreement {
  policy::PathHint write_path = policy::PathHint::automatic;
  policy::PathHint read_path = policy::PathHint::automatic;
  ByteCount window_size = 0;      ///< a multiple of the page and of the stripe
  ByteCount node_window = 0;      ///< the largest window that a node fills by itself
  ByteCount stripe = 0;           ///< bytes; windows are whole stripes; 0: unknown
  std::int64_t stripe_count = 0;  ///< how many objects the stripes go to in turn; 0: unknown
  int slot_count = 0;
  policy::ViewFacts view;

  plan::Alignment alignment = plan::Alignment::persistent;
  plan::AggregatorHints aggregators;
  bool lock_ahead = false;  ///< requested, and the file system supports it
  int places =
      0;  ///< how many aggregators this rank's node may have; its first rank's value counts
  storage::Layout layout;   ///< as the first rank found it, as far as pack() keeps it
  CommonHints hints{};      ///< in effect for all ranks
  Differences different{};  ///< how many ranks gave other hints
  int ranks = 0;
  /// The costs of the file's file system; null: the built-in ones count.
  const policy::Profile* profile = nullptr;
  bool has_other_profiles = false;  ///< there is one, but not on all ranks
  /// One that does not count, since the file has more ranks than it was measured with; or null.
  const policy::Profile* profile_of_fewer = nullptr;
  int most_on_node = 1;  ///< the ranks of the node that has most
};

/// What a rank has found of its profiles.
struct ProfileFound {
  int number = 0;       ///< see own_profile(); on the first rank only
  bool may_be = false;  ///< see may_have_profile()
};

/// What a rank has found of an open file.
struct FileFound {
  const storage::Layout& layout;
  std::int64_t number = 0;  ///< see storage::Store::file_number()
  ProfileFound profile = {};
};

/// A line for each hint that is not in effect as some rank gave it; the same on all ranks.
std::vector<std::string> corrections_of(const Agreement& agreement);

/// Whether nodes may move data for each other, and why not; "" on one node. `mount`: where the
/// file's file system is mounted, "" if unknown.
std::string explain_nodes(const Agreement& agreement, std::string_view mount);

/// What a call tries to do, for the beginning of an error message: "cannot open 'a/b'". The text is
/// made only for an error, since a rank without memory for it must not leave the others waiting.
struct Action {
  const char* verb;  ///< "open"
  std::string_view path;

  std::string text() const {
    return std::string("cannot ") + verb + " '" + std::string(path) + "'";
  }
};

/// An error as one number, 0 for none. The greatest number of several ranks stands for all.
std::int64_t code_of(const Error& error);

/// This rank's own error, if it has one. Otherwise, if `code` stands for another rank's error, an
/// error of the same class that says what was tried.
Error own_or_others(const Error& mine, std::int64_t code, const Action& what) noexcept;

/// Collective: agrees on a view, hints, the layout and a profile. If ranks give different hints,
/// the first rank's are in effect. `failed` is an error that this rank met before. If any rank has
/// one, all ranks get an error; also if views differ in the representation or the etype's extent in
/// it.
Result<Agreement> agree(exchange::FileChannel& channel, const Error& failed, const Action& what,
                        const HintValues& wanted, const View& view, const FileFound& found);

/// Collective: success if all ranks succeeded, otherwise own_or_others().
Error agree_on_error(exchange::FileChannel& channel, const Error& mine, const Action& what);

}  // namespace headrace::file
