#include <algorithm>

#include "faults/script.h"

namespace headrace::faults {
namespace {

std::string access_name(bool is_write, Style style, Positioning positioning, bool collective) {
  std::string name = style == Style::nonblocking ? "i" : "";
  name += is_write ? "write" : "read";
  if (positioning == Positioning::explicit_offset) name += "_at";
  if (positioning == Positioning::shared) {
    name += collective ? "_ordered" : "_shared";
  } else if (collective) {
    name += "_all";
  }
  if (style == Style::split) name += "_begin";
  return name;
}

std::vector<std::string> list_calls() {
  std::vector<std::string> names{"open"};
  for (const bool is_write : {true, false}) {
    for (const Positioning positioning :
         {Positioning::explicit_offset, Positioning::individual, Positioning::shared}) {
      for (const bool collective : {false, true}) {
        for (const Style style : {Style::blocking, Style::nonblocking, Style::split}) {
          // MPI has no such procedures.
          if (style == Style::split && !collective) continue;
          if (style == Style::nonblocking && collective && positioning == Positioning::shared) {
            continue;
          }
          names.push_back(access_name(is_write, style, positioning, collective));
        }
      }
    }
  }
  for (const char* const name : {"set_view", "set_size", "preallocate", "sync", "get_size",
                                 "set_atomicity", "seek_shared", "close"}) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

Step step_of(StepKind kind, int ranks, std::int64_t value) {
  Step step;
  step.kind = kind;
  step.value = value;
  step.parts.resize(static_cast<std::size_t>(ranks));
  return step;
}

bool has_wrong(const Step& step) {
  return std::ranges::any_of(step.parts, &Part::wrong);
}

std::string call_of(const Step& step) {
  switch (step.kind) {
    case StepKind::access:
      return access_name(step.is_write, step.style, step.positioning, step.is_collective);
    case StepKind::set_view: return "set_view";
    case StepKind::set_size: return "set_size";
    case StepKind::preallocate: return "preallocate";
    case StepKind::get_size: return "get_size";
    case StepKind::set_atomicity: return "set_atomicity";
    case StepKind::seek_shared: return "seek_shared";
    default: return "sync";
  }
}

const std::vector<std::string>& all_calls() {
  static const auto* const names = new std::vector<std::string>(list_calls());
  return *names;
}

}  // namespace headrace::faults
