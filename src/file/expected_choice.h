#pragma once

#include <string>

#include "file/agreement.h"
#include "file/hints.h"

namespace headrace::file {

/// A collective call as somebody describes it: all ranks have as many pieces of one size, and the
/// pieces of all ranks take turns in the file without gaps.
struct ExpectedCall {
  Direction direction = Direction::write;
  int nodes = 1;
  int node_ranks = 1;       ///< ranks on each node
  ByteCount piece = 0;      ///< bytes
  std::int64_t pieces = 1;  ///< of each rank
  int cores = 1;            ///< of each node
};

struct ExpectedChoice {
  policy::Path path = policy::Path::direct;
  std::string reason;
  ByteCount window_size = 0;  ///< bytes of a collective buffer
  int slot_count = 0;         ///< collective buffers of a node
};

/// What the ranks of such a call would agree on when they open the file; `layout` as
/// storage::find_layout() has it.
Agreement expect_agreement(const HintValues& hints, const storage::Layout& layout,
                           const ExpectedCall& call, const policy::Profile* profile);

/// The path that such a call would take, by the rules of an open file and the costs of `profile`
/// (null: the built-in ones), but for what only a running job knows: how far cores are apart if
/// HEADRACE_CORE_DISTANCE does not say it, and how much memory other files have taken.
ExpectedChoice expect_choice(const HintValues& hints, const storage::Layout& layout,
                             const ExpectedCall& call, const policy::Profile* profile);

}  // namespace headrace::file
