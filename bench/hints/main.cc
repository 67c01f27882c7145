// Tells which hints would be in force for a file, where each comes from, and which path a
// collective call would take. Everything is the engine's own code; nothing is opened for writing.
// The command `headrace hints` starts it.
//
//   hints FILE RANKS RANKS_PER_NODE PIECE PIECES CORES [HINT=VALUE ...]
//
// CORES of a node, 0: as many as this one has. The hints are as a program would give them.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/rounding.h"
#include "base/trusted_file.h"
#include "buffering/buffer_limit.h"
#include "buffering/buffer_plan.h"
#include "file/call_executor.h"
#include "file/expected_choice.h"
#include "file/file_hints.h"
#include "file/hint_display.h"
#include "file/prefixed_name.h"
#include "file/profiles.h"
#include "policy/profile_name.h"
#include "storage/store.h"
#include "topo/node.h"

namespace headrace {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 30;

/// None for what is no number of this range.
std::optional<std::int64_t> number(std::string_view text, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value < least || value > kMost) return std::nullopt;
  return value;
}

/// What is found of a file, or of its directory.
struct Found {
  storage::Layout layout;
  std::uint64_t device = 0;
  bool exists = false;
};

/// Of the file, or of a new one in its directory. None, and errno, if neither can be looked at.
std::optional<Found> look_at(const std::string& path) {
  constexpr int kHow = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  const int file = ::open(path.c_str(), kHow);
  const int place = file >= 0 ? file : ::open(directory_of(path).c_str(), kHow);
  if (place < 0) return std::nullopt;
  struct stat status{};
  const bool is_known = ::fstat(place, &status) == 0;
  if (file >= 0 && is_known && S_ISDIR(status.st_mode)) {
    ::close(place);
    errno = EISDIR;
    return std::nullopt;
  }
  Found found{storage::find_layout(place), is_known ? status.st_dev : 0, file >= 0};
  ::close(place);
  return found;
}

/// What a call that opens the file, and creates it, would do about stripes.
void expect_striping(const std::string& path, const file::HintValues& hints, Found& found) {
  const storage::StripingHints wanted = file::striping_of(hints);
  if (wanted.is_empty()) return;
  storage::Layout& layout = found.layout;
  layout.outcome = storage::expect_striping(path, found.exists);
  if (layout.outcome != storage::StripingOutcome::applied) return;
  if (wanted.stripes.size > 0) layout.stripes.size = wanted.stripes.size;
  if (wanted.stripes.count > 0) layout.stripes.count = wanted.stripes.count;
}

/// The profile that counts for such calls of files there, or null. Says why one does not.
const policy::Profile* profile_of(const Found& found, const file::ExpectedCall& call) {
  const policy::Profile* const profile =
      file::own_profile(file::profile_on_device(found.layout.kind, found.device));
  if (profile == nullptr || policy::has_enough_ranks(*profile, call.node_ranks, call.nodes)) {
    return profile;
  }
  std::printf("%s does not count (%s), measure with as many by headrace tune\n",
              policy::profile_name(profile->path).c_str(),
              policy::too_few_ranks(*profile, call.node_ranks, call.nodes).c_str());
  return nullptr;
}

void tell(Direction direction, const file::HintValues& hints, const storage::Layout& layout,
          file::ExpectedCall call, const policy::Profile* profile) {
  call.direction = direction;
  const file::ExpectedChoice choice = file::expect_choice(hints, layout, call, profile);
  const bool writes = direction == Direction::write;
  std::printf("%s of %lld bytes, %lld for each of %d rank%s on %d node%s: %s (%s)\n",
              writes ? "writes" : "reads", static_cast<long long>(call.piece),
              static_cast<long long>(call.pieces), call.node_ranks * call.nodes,
              call.node_ranks * call.nodes == 1 ? "" : "s", call.nodes, call.nodes == 1 ? "" : "s",
              std::string(policy::name_of(choice.path)).c_str(), choice.reason.c_str());
  if (writes) {
    std::printf("collective buffers of a node: %d of %lld bytes\n", choice.slot_count,
                static_cast<long long>(choice.window_size));
  }
}

/// The same lines as of a program that opens the file (HEADRACE_HINTS_DISPLAY=1).
void show_hints(const std::string& path, file::FileHints& hints, const Found& found,
                const file::ExpectedCall& call, const policy::Profile* profile) {
  const storage::Layout& layout = found.layout;
  const file::Agreement agreement = file::expect_agreement(hints.values(), layout, call, profile);
  hints.note_corrections(file::corrections_of(agreement));
  const file::Hints in_force =
      file::hints_in_force(hints.shown(), layout, agreement.ranks, agreement.window_size);
  const file::HintsKnown known{in_force, hints.asked(), hints.origins(),
                               file::explain_nodes(agreement, file::mount_of_device(found.device)),
                               policy::explain_costs(profile)};
  std::printf("%s\n", file::explain_hints(path, known).c_str());
}

void show_buffers(std::string_view name, const std::string& path, int node_ranks) {
  const buffering::BufferShape* const wanted = buffering::shape_of(name, path);
  if (wanted == nullptr) return;
  const auto shape = buffering::limited(*wanted, file::own_share_of(node_ranks));
  if (shape.count == 0) return;
  std::printf("buffers of '%s': %s\n", path.c_str(), buffering::text_of(shape).c_str());
}

int run(const std::string& given, const file::ExpectedCall& call, const file::Hints& program) {
  const auto name = file::path_of(given);
  if (!name) {
    std::fprintf(stderr,
                 "'%s' is opened by the MPI library itself, so no hint of Headrace counts\n",
                 given.c_str());
    return 2;
  }
  const std::string path = storage::posix_file_system().full_name(std::string(*name));
  auto found = look_at(path);
  if (!found) {
    std::fprintf(stderr,
                 errno == EISDIR ? "'%s' cannot be looked at (%s)\n"
                                 : "neither '%s' nor its directory can be looked at (%s)\n",
                 path.c_str(), std::strerror(errno));
    return 2;
  }
  file::FileHints hints(true);
  hints.start(*name, path, program);
  expect_striping(path, hints.values(), *found);
  const policy::Profile* const profile = profile_of(*found, call);
  show_buffers(*name, path, call.node_ranks);
  show_hints(path, hints, *found, call, profile);
  for (const Direction direction : {Direction::write, Direction::read}) {
    tell(direction, hints.values(), found->layout, call, profile);
  }
  return 0;
}

}  // namespace
}  // namespace headrace

int main(int count, char** arguments) {
  using headrace::number;
  headrace::file::ExpectedCall call;
  headrace::file::Hints program;
  if (count < 7) {
    std::fprintf(stderr, "usage: hints FILE RANKS RANKS_PER_NODE PIECE PIECES CORES [KEY=VALUE]\n");
    return 2;
  }
  const auto ranks = number(arguments[2], 1);
  const auto node_ranks = number(arguments[3], 1);
  const auto piece = number(arguments[4], 1);
  const auto pieces = number(arguments[5], 1);
  const auto cores = number(arguments[6], 0);
  if (!ranks || !node_ranks || !piece || !pieces || !cores) {
    std::fprintf(stderr, "the numbers are not within 1 and 2^30\n");
    return 2;
  }
  // Below, no product of these overflows.
  if (*piece > (std::int64_t{1} << 60) / *pieces / *ranks) {
    std::fprintf(stderr, "the call has more than 2^60 bytes\n");
    return 2;
  }
  call.node_ranks = static_cast<int>(std::min(*ranks, *node_ranks));
  call.nodes = static_cast<int>(headrace::divide_up(*ranks, std::int64_t{call.node_ranks}));
  call.piece = *piece;
  call.pieces = *pieces;
  call.cores = *cores > 0 ? static_cast<int>(*cores) : headrace::topo::node_cores();
  for (int i = 7; i < count; ++i) {
    const std::string_view word = arguments[i];
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      std::fprintf(stderr, "'%s' is no KEY=VALUE\n", arguments[i]);
      return 2;
    }
    program[std::string(word.substr(0, equals))] = word.substr(equals + 1);
  }
  return headrace::run(arguments[1], call, program);
}
