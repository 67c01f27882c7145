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
#include "storage/file_layout.h"

namespace headrace::file {

/// What all ranks of a file agree on, so that they choose the same path without asking each other.
struct Agreement {
  policy::PathHint write_path = policy::PathHint::automatic;
  policy::PathHint read_path = policy::PathHint::automatic;
  ByteCount window_size = 0;      ///< whole pages, whole stripes
  ByteCount node_window = 0;      ///< the largest that a node fills by itself
  ByteCount stripe = 0;           ///< windows are whole stripes; 0: not known
  std::int64_t stripe_count = 0;  ///< objects that they go to in turn; 0: not known
  int slot_count = 0;
  policy::ViewFacts view;

  plan::Alignment alignment = plan::Alignment::persistent;
  plan::AggregatorHints aggregators;
  bool lock_ahead = false;  ///< asked for, and the file system can
  int places = 0;           ///< aggregators that this rank's node may have; its first rank's count
  storage::Layout layout;   ///< as the first rank found it, as far as one number tells
  CommonHints hints{};      ///< that count for all ranks
  Differences different{};  ///< ranks whose hints do not
  int ranks = 0;
};

/// A line for each hint that does not count as some rank gave it; the same on all ranks.
std::vector<std::string> corrections_of(const Agreement& agreement);

/// What is tried, for the beginning of an error: "cannot open 'a/b'". The text is made for an error
/// only, since a rank that finds no memory for it must not leave the others waiting.
struct Action {
  const char* verb;  ///< "open"
  std::string_view path;

  std::string text() const {
    return std::string("cannot ") + verb + " '" + std::string(path) + "'";
  }
};

/// An error as one number, 0 for none. The greatest of several ranks' numbers is one of them.
std::int64_t code_of(const Error& error);

/// This rank's own error where it has one. Else, where `code` tells of another rank's, an error of
/// the same class that says what was tried.
Error own_or_others(const Error& mine, std::int64_t code, const Action& what) noexcept;

/// Collective. `file_number`: see storage::Store. Where ranks do not give the same hints, those of
/// the first count. `failed` is the error a rank met before; where any rank has one, all get one.
/// So they do where views differ in what must be the same: the representation, and the etype's
/// extent in it.
Result<Agreement> agree(exchange::FileChannel& channel, const Error& failed, const Action& what,
                        const HintValues& wanted, const View& view, const storage::Layout& layout,
                        std::int64_t file_number);

/// Collective: success where all ranks succeeded, else own_or_others().
Error agree_on_error(exchange::FileChannel& channel, const Error& mine, const Action& what);

}  // namespace headrace::file
