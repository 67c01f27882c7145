#include "file/agreement.h"

#include <algorithm>
#include <cstring>

#include "base/fingerprint.h"
#include "base/name_pattern.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "fabric/combined.h"
#include "file/agreed_view.h"
#include "file/profiles.h"
#include "policy/profile_name.h"
#include "policy/slot_count.h"
#include "topo/node.h"

namespace headrace::file {
namespace {

using fabric::Extremes;

// What counts only if it holds on all ranks.
constexpr std::int64_t kIsMonotonic = 1;
constexpr std::int64_t kIsCoherent = 2;

/// What each rank contributes when all agree.
struct RankFacts {
  std::int64_t failure = 0;  ///< code_of() its error
  std::int64_t slots = 0;
  ByteCount mean_piece = 0;
  std::int64_t holds = 0;  ///< kIsMonotonic and kIsCoherent, as far as they hold
  Extremes form;
  Extremes hints;
  std::int64_t layout = 0;  ///< the file's layout; counts on the first rank
  ByteCount best_request = 0;
  Extremes file;
  // Two short numbers, since what ranks post is short. Of profiles: twice the number of the first
  // rank's, and 1 if a rank may have one.
  std::int32_t profile = 0;
  std::int32_t node_ranks = 0;
  Extremes profiles;

  void combine(const RankFacts& other) {
    fabric::keep_greatest(failure, other.failure);
    fabric::keep_least(slots, other.slots);
    fabric::keep_least(mean_piece, other.mean_piece);
    holds &= other.holds;
    form.combine(other.form);
    hints.combine(other.hints);
    fabric::keep_greatest(layout, other.layout);
    fabric::keep_greatest(best_request, other.best_request);
    file.combine(other.file);
    profile = std::max(profile, other.profile);
    node_ranks = std::max(node_ranks, other.node_ranks);
    profiles.combine(other.profiles);
  }
};

ByteCount mean_piece(const view::Type& filetype) {
  if (filetype.size() == 0 || filetype.is_contiguous()) return policy::kContiguousView;
  return filetype.size() / filetype.piece_count();
}

/// A hash of what must be the same on all ranks of a view (MPI 4.1, section 14.3): the etype's
/// extent and the representation's name.
std::int64_t form_of(const View& view) {
  Fingerprint form;
  form.add(view.etype->extent());
  for (const char letter : view.datarep) form.add_byte(static_cast<unsigned char>(letter));
  return form.value();
}

std::int64_t slots_wanted(const exchange::FileChannel& channel) {
  if (settings().buffer_count > 0) return settings().buffer_count;
  return policy::slots_for_ranks(channel.nodes().node_count(), channel.nodes().node_size(),
                                 channel.is_crowded());
}

/// This rank's contribution. The layout counts on the file's first rank only; whether the mount is
/// coherent, on each node's first rank. `profiles`: a hash of this rank's. Takes no memory.
RankFacts facts_of_rank(const exchange::FileChannel& channel, const Error& mine,
                        const CommonHints& hints, const View& view, const FileFound& found,
                        std::int64_t profiles) {
  const topo::NodeMap& nodes = channel.nodes();
  return {.failure = code_of(mine),
          .slots = slots_wanted(channel),
          .mean_piece = mean_piece(*view.filetype),
          .holds = (view.filetype->is_monotonic() ? kIsMonotonic : 0) |
                   (found.layout.is_coherent || !nodes.is_leader() ? kIsCoherent : 0),
          .form = Extremes::of(form_of(view)),
          .hints = Extremes::of(fingerprint_of(hints)),
          .layout = nodes.rank() == 0 ? storage::pack(found.layout) : 0,
          .best_request = found.layout.best_request,
          .file = Extremes::of(found.number),
          .profile =
              2 * (nodes.rank() == 0 ? found.profile.number : 0) + (found.profile.may_be ? 1 : 0),
          .node_ranks = nodes.node_size(),
          .profiles = Extremes::of(profiles)};
}

storage::Layout layout_of(const RankFacts& all) {
  storage::Layout layout = storage::unpack_layout(all.layout);
  layout.best_request = all.best_request;
  layout.is_coherent = (all.holds & kIsCoherent) != 0;
  layout.is_one_file = all.file.are_same() || !storage::has_lasting_numbers(layout.kind);
  return layout;
}

/// The first rank's profile, if all ranks have read the same ones and it is of so many ranks. When
/// no rank has failed, each has read its own.
void take_profile(const RankFacts& all, int nodes, Agreement& agreement) {
  agreement.has_other_profiles = all.profile > 0 && !all.profiles.are_same();
  agreement.most_on_node = all.node_ranks;
  if (!all.profiles.are_same()) return;
  const policy::Profile* const found = own_profile(all.profile / 2);
  if (found == nullptr) return;
  (policy::has_enough_ranks(*found, agreement.most_on_node, nodes) ? agreement.profile
                                                                   : agreement.profile_of_fewer) =
      found;
}

/// A pattern for a mount point, with a ? for what would mean something else in HEADRACE_FS_FACTS or
/// a shell.
std::string as_pattern(std::string_view mount) {
  std::string pattern = printable(mount, kLongestPattern);
  std::ranges::replace_if(
      pattern,
      [](char letter) {
        return std::string_view(" ,:*?[]\\'\"$`&;|<>()!#").find(letter) != std::string_view::npos;
      },
      '?');
  return pattern;
}

}  // namespace

std::int64_t code_of(const Error& error) {
  return (static_cast<std::int64_t>(error.error_class) << 32) + error.system_error;
}

Error own_or_others(const Error& mine, std::int64_t code, const Action& what) noexcept {
  if (mine || code == 0) return mine;
  const auto system_error = static_cast<int>(code & 0xffffffff);
  const bool has_reason = system_error != 0;
  return {static_cast<ErrorClass>(code >> 32),
          system_error,
          {"cannot ", what.verb, " '", what.path, "' (another rank failed", has_reason ? ": " : "",
           has_reason ? std::strerror(system_error) : "", "), see that rank's error"}};
}

Result<Agreement> agree(exchange::FileChannel& channel, const Error& failed, const Action& what,
                        const HintValues& wanted, const View& view, const FileFound& found) {
  Agreement agreement;
  agreement.ranks = channel.nodes().size();
  agreement.hints = common_hints(wanted);
  // Take memory before the ranks meet: afterwards each rank must do what the others do.
  std::int64_t profiles = 0;
  const Error lacking = attempt([&]() -> Error {
    const std::string host = wanted.hosts.is_empty() ? "" : topo::host_name();
    profiles = own_profiles().fingerprint;
    agreement.places = wanted.hosts.most_on(host, channel.nodes().node_size());
    return {};
  });
  const Error& mine = failed ? failed : lacking;
  RankFacts all = facts_of_rank(channel, mine, agreement.hints, view, found, profiles);
  if (Error error = channel.combine(all)) return error;
  if (Error error = own_or_others(mine, all.failure, what)) return error;
  if (!all.form.are_same()) {
    return Error{ErrorClass::not_same, 0,
                 what.text() +
                     " (the data representation or the etype's extent in it is not the same on "
                     "all ranks), pass the same everywhere"};
  }
  if (!all.hints.are_same()) {
    if (Error error = take_first_ranks(channel, agreement.hints, agreement.different)) return error;
  }
  agreement.layout = layout_of(all);
  take_profile(all, channel.nodes().node_count(), agreement);
  apply_hints_and_layout(agreement);
  set_view(agreement, {.node_ranks = channel.nodes().node_size(),
                       .nodes = channel.nodes().node_count(),
                       .mean_piece = all.mean_piece,
                       .is_monotonic = (all.holds & kIsMonotonic) != 0,
                       .slots = all.slots});
  return agreement;
}

std::vector<std::string> corrections_of(const Agreement& agreement) {
  const CommonHints& hints = agreement.hints;
  std::vector<std::string> lines = explain_differences(agreement.different, agreement.ranks);
  if (!agreement.layout.is_one_file) {
    lines.emplace_back(
        "the ranks opened different files in one call (the standard does not allow that), so each "
        "moves its own data; open files of one rank with MPI_COMM_SELF");
  }
  if (agreement.has_other_profiles) {
    lines.emplace_back(
        "the built-in costs are used (ranks found different profiles, or have different "
        "processors), put profiles where all nodes read them (docs/tune.md)");
  }
  if (const policy::Profile* const fewer = agreement.profile_of_fewer; fewer != nullptr) {
    lines.push_back(policy::profile_name(fewer->path) + " does not count (" +
                    policy::too_few_ranks(*fewer, agreement.most_on_node, agreement.view.nodes) +
                    "), measure with as many by headrace tune");
  }
  if (hints[kCbNodes] > agreement.ranks) {
    lines.push_back("cb_nodes=" + std::to_string(hints[kCbNodes]) + " counts as " +
                    std::to_string(agreement.ranks) + " (there are no more ranks)");
  }
  if (hints[kStripingUnit] > 0 && storage::usable({hints[kStripingUnit], 0}).size == 0) {
    lines.push_back("striping_unit=" + std::to_string(hints[kStripingUnit]) +
                    " does not count for collective buffers (stripes are whole pages, at most 1 "
                    "GiB)");
  }
  if (hints[kLockAhead] == 1 && !agreement.lock_ahead) {
    lines.push_back("headrace_lock_ahead has no effect (the file system, " +
                    storage::name_of_kind(agreement.layout.kind) +
                    ", takes no requests for locks)");
  }
  return lines;
}

std::string explain_nodes(const Agreement& agreement, std::string_view mount) {
  const policy::ViewFacts& view = agreement.view;
  if (view.nodes < 2 || !view.is_one_file) return {};
  if (view.is_coherent) return "they may move data for each other, where that costs less";
  const std::string kind = storage::name_of_kind(agreement.layout.kind);
  if (storage::is_local(agreement.layout.kind)) {
    return "each moves its own data (" + kind + " is local to a node)";
  }
  return "each moves its own data (on this file system, " + kind +
         ", others might not see its writes at once), if they do set HEADRACE_FS_FACTS=" +
         (mount.empty() ? kind : as_pattern(mount)) + ":coherent=true";
}

Error agree_on_error(exchange::FileChannel& channel, const Error& mine, const Action& what) {
  fabric::Greatest all{code_of(mine)};
  if (Error error = channel.combine(all)) return error;
  return own_or_others(mine, all.value, what);
}

}  // namespace headrace::file
