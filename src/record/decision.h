#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "record/file_counts.h"

namespace headrace::record {

/// What Headrace chose of its own accord. The one form in which it explains anything: records,
/// reports and the lines at exit show these texts.
struct Decision {
  std::string subject;       ///< what was to be decided, of which object
  std::string choice;        ///< what was chosen
  std::string reason;        ///< why
  std::string alternatives;  ///< what could have been, with what it was estimated at; may be empty
};

/// "SUBJECT: CHOICE, REASON"
std::string text_of(const Decision& decision);

/// What came of a decision; it lies in the recorder's image. Times in ticks.
struct DecisionCost {
  std::int64_t calls;  ///< that went by it
  std::int64_t ticks;  ///< of these, on this rank; -1: it has no cost that is measured
};

/// Keeps a decision. Null if nothing is recorded, or there is no room: then it is counted only. An
/// equal one is not kept twice. What is returned may be added to for as long as the process lives.
/// `is_timed`: its cost will be added.
DecisionCost* note_decision(const Decision& decision, bool is_timed) noexcept;

/// One that a signal's handler may make, too.
struct PlainDecision {
  std::string_view subject;
  std::string_view choice;
  std::string_view reason;
};

/// Why a file gets buffers that this process writes to as if nobody else did, where other nodes may
/// reach it: node_tables.h looks for such files, and the command does (analysis/decisions.py).
inline constexpr std::string_view kOthersMayReach =
    "HEADRACE_IOBUF names it, and other nodes may reach it";

/// Counts such a decision, an equal one once more; nothing if nothing is recorded. Takes no lock
/// and no memory, and any thread or handler may call it. `group`: the subject of those for which
/// there is no room one by one. A decision that finds none at all is counted as lost.
void count_plain_decision(const PlainDecision& decision, std::string_view group) noexcept;

}  // namespace headrace::record
