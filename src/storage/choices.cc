#include "storage/choices.h"

namespace headrace::storage {
namespace {

std::string because(UseSetting setting, const char* reason, const char* name) {
  if (setting == UseSetting::always) return std::string(", as ") + name + " asks";
  return std::string(", ") + reason + " (" + name + ")";
}

}  // namespace

std::string explain(const Choices& choices, UseSetting write_turns, UseSetting realign_reads) {
  std::string text;
  if (choices.waited_for_turns) {
    text = "ranks of a node took turns to write" +
           because(write_turns, "which takes less time than waiting for the kernel's lock",
                   "HEADRACE_WRITE_TURNS");
  }
  if (choices.read_by_other_ways) {
    text += (text.empty() ? "" : "; ") + std::string("reads used an aligned bounce buffer") +
            because(realign_reads,
                    "since copying to the destination's alignment is slow on this processor",
                    "HEADRACE_REALIGN_READS");
  }
  if (choices.passed_cache) {
    text += (text.empty() ? "" : "; ") +
            std::string("whole pages bypassed the page cache, as direct_io asks");
  }
  return text;
}

}  // namespace headrace::storage
