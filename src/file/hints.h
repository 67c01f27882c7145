#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.h"
#include "base/types.h"
#include "plan/aggregators.h"
#include "plan/domains.h"
#include "policy/path.h"
#include "storage/file_layout.h"
#include "storage/open_flags.h"

namespace headrace::file {

/// Hints as an MPI_Info holds them.
using Hints = std::map<std::string, std::string>;

/// What the hints and settings ask for.
struct HintValues {
  policy::PathHint write_path = policy::PathHint::automatic;
  policy::PathHint read_path = policy::PathHint::automatic;
  ByteCount buffer_size = 0;         ///< bytes of a collective buffer; 0: chosen automatically
  ByteCount striping_unit = 0;       ///< 0: not known
  ByteCount sieve_size = 0;          ///< bytes of the buffer for independent reads of small pieces
  std::int64_t striping_factor = 0;  ///< 0: not known
  std::int64_t start_device = -1;    ///< -1: the file system's choice
  std::int64_t overstriping_count = 0;  ///< 0: none
  plan::Alignment alignment = plan::Alignment::persistent;
  plan::AggregatorHints aggregators;
  plan::ConfigList hosts;  ///< where aggregators may be
  bool lock_ahead = false;
  bool sieves_reads = true;  ///< reads what lies between small pieces with them
  std::optional<storage::Permissions> permissions;  ///< of a new file; none: what umask leaves
  storage::Style style = storage::Style::usual;
  bool passes_cache = false;  ///< O_DIRECT where it is possible
};

/// The hints in effect for a file.
struct HintsInUse {
  HintValues values;
  Hints given;    ///< if known and well formed
  Hints origins;  ///< for each that somebody gave or that follows from it: who
  Hints asked;    ///< for each of these that was given by its name: the text
};

/// Who gave hints, where the program did.
inline constexpr const char* kProgram = "the program";

/// What the words of access_style mean.
storage::Style style_of(const std::string& words);

/// What the settings alone ask for.
HintValues default_hint_values();

/// Applies the settings that `origin` gave. For each hint that this sets: the variable.
Hints take_settings(Origin origin, HintValues& values);

/// Applies `hints` to `values` and returns those that are known and well formed. Adds a line to
/// `problems` for each of the others.
Hints apply_hints(const Hints& hints, HintValues& values, std::vector<std::string>& problems);

/// What the hints ask of a file that is created.
storage::StripingHints striping_of(const HintValues& values);

/// The values as hints, for MPI_File_get_info.
Hints hints_of(const HintValues& values);
/// The layout as hints.
Hints hints_of(const storage::Layout& layout);

}  // namespace headrace::file
