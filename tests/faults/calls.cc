#include "faults/script.h"

namespace headrace::faults {
namespace {

std::string transfer_name(Direction direction, Style style, Positioning positioning,
                          bool collective) {
  const bool starts = style == Style::nonblocking || style == Style::unwaited;
  std::string name = starts ? "i" : "";
  name += direction == Direction::write ? "write" : "read";
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
  for (const Direction direction : {Direction::write, Direction::read}) {
    for (const Positioning positioning :
         {Positioning::explicit_offset, Positioning::pointer, Positioning::shared}) {
      for (const bool collective : {false, true}) {
        for (const Style style : {Style::blocking, Style::nonblocking, Style::split}) {
          // MPI has no such procedures.
          if (style == Style::split && !collective) continue;
          if (style == Style::nonblocking && collective && positioning == Positioning::shared) {
            continue;
          }
          names.push_back(transfer_name(direction, style, positioning, collective));
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

std::string call_of(const Step& step) {
  switch (step.kind) {
    case StepKind::set_view: return "set_view";
    case StepKind::transfer: break;
    case StepKind::resize: return "set_size";
    case StepKind::allocate: return "preallocate";
    case StepKind::sync: return "sync";
    case StepKind::get_size: return "get_size";
    case StepKind::set_atomicity: return "set_atomicity";
    case StepKind::seek_shared: return "seek_shared";
  }
  return transfer_name(step.direction, step.style, step.positioning, step.collective);
}

const std::vector<std::string>& all_calls() {
  static const auto* const names = new std::vector<std::string>(list_calls());
  return *names;
}

}  // namespace headrace::faults
