#pragma once

#include <cstdint>
#include <string>

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

}  // namespace headrace::record
