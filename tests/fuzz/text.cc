#include "fuzz/text.h"

#include <cstddef>
#include <string_view>

#include "fuzz/text_names.h"

namespace headrace::fuzz {
namespace {

template <class Names, class Enum>
std::string name_of(const Names& names, Enum value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

template <class List>
std::string list_text(const List& list) {
  std::string text = "[";
  for (const auto& item : list) {
    if (text.size() > 1) text += ",";
    text += std::to_string(item);
  }
  return text + "]";
}

std::string mode_text(const Mode& mode) {
  std::string text;
  for (const ModeWord& word : kModeWords) {
    if (!(mode.*word.member)) continue;
    if (!text.empty()) text += "+";
    text += word.name;
  }
  return text;
}

/// A line of words, those with default values left out.
class Line {
 public:
  explicit Line(std::string first) : text_(std::move(first)) {}

  Line& word(std::string_view name, const std::string& value) {
    text_.append(" ").append(name).append("=").append(value);
    return *this;
  }
  Line& number(std::string_view name, std::int64_t value, std::int64_t otherwise = 0) {
    return value == otherwise ? *this : word(name, std::to_string(value));
  }
  Line& flag(std::string_view name, bool value) { return value ? word(name, "yes") : *this; }
  Line& hints(const Hints& hints) {
    for (const auto& [name, value] : hints) word("hint." + name, value);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string step_line(const Step& step) {
  Line line("step " + name_of(kStepKinds, step.kind));
  line.number("file", step.file).number("id", step.id);
  if (step.kind == StepKind::access || step.kind == StepKind::end) {
    line.word("direction", step.is_write ? "write" : "read");
    line.word("position", name_of(kPositionings, step.positioning));
    line.flag("collective", step.is_collective);
    line.word("style", name_of(kStyles, step.style));
  }
  if (step.kind == StepKind::seek || step.kind == StepKind::seek_shared) {
    line.word("whence", name_of(kWhences, step.whence));
  }
  line.number("value", step.value).flag("atomic", step.atomic);
  line.flag("cancels", step.cancels).flag("looks", step.looks);
  if (step.kind == StepKind::wait) line.word("how", name_of(kCompletions, step.completion));
  if (step.kind == StepKind::reopen) line.word("mode", mode_text(step.mode));
  return line.hints(step.hints).text();
}

std::string part_line(const Step& step, const Part& part) {
  Line line("  part");
  if (!part.takes_part) return line.word("takes_part", "no").text();
  line.number("offset", part.offset);
  if (step.kind == StepKind::access) {
    line.number("count", part.count).word("memory", to_text(part.memory));
    line.flag("absolute", part.absolute);
  }
  if (step.kind == StepKind::set_view) {
    line.number("displacement", part.view.displacement).flag("current", part.view.current);
    line.word("etype", to_text(part.view.etype)).word("filetype", to_text(part.view.filetype));
  }
  if (!part.waits.empty()) line.word("waits", list_text(part.waits));
  return line.text();
}

}  // namespace

std::string to_text(const TypeTree& type) {
  std::string inner;
  for (const std::vector<std::int64_t>& argument : type.arguments) {
    if (!inner.empty()) inner += ",";
    inner += list_text(argument);
  }
  for (const TypeTree& child : type.children) {
    if (!inner.empty()) inner += ",";
    inner += to_text(child);
  }
  return name_of(kTypeKinds, type.kind) + "(" + inner + ")";
}

std::string to_text(const Program& program) {
  Line job("program");
  job.word("seed", std::to_string(program.seed)).word("nodes", list_text(program.nodes));
  job.flag("thread_a_file", program.has_thread_a_file);
  job.number("delay_every", program.delay_every).number("chunk", program.chunk);
  job.flag("real_files", program.on_real_files);
  std::string text = job.text() + "\n";
  for (const File& file : program.files) {
    Line line("file");
    line.word("groups", list_text(file.groups)).word("mode", mode_text(file.mode));
    if (file.size) line.word("size", std::to_string(*file.size));
    text += line.hints(file.hints).text() + "\n";
  }
  for (const Step& step : program.steps) {
    text += step_line(step) + "\n";
    for (const Part& part : step.parts) text += part_line(step, part) + "\n";
  }
  return text;
}

}  // namespace headrace::fuzz
