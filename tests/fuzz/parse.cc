#include <charconv>
#include <sstream>
#include <string_view>

#include "fuzz/text.h"
#include "fuzz/text_names.h"

namespace headrace::fuzz {
namespace {

/// Thrown within this file only.
struct Malformed {
  std::string reason;
};

template <class Enum, class Names>
Enum value_of(const Names& names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw Malformed{"unknown word '" + std::string(name) + "'"};
}

template <class Number = std::int64_t>
Number number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Malformed{"'" + std::string(text) + "' is not a number"};
  }
  return number;
}

Mode mode_of(std::string_view text) {
  Mode mode;
  mode.read = mode.write = false;
  std::istringstream words{std::string(text)};
  for (std::string name; std::getline(words, name, '+');) {
    bool known = false;
    for (const ModeWord& word : kModeWords) {
      if (word.name != name) continue;
      mode.*word.member = known = true;
    }
    if (!known) throw Malformed{"unknown access mode '" + name + "'"};
  }
  return mode;
}

/// Reads "name(argument,...)" and "[number,...]".
class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : rest_(text) {}

  TypeTree whole_type() {
    TypeTree result = type();
    if (!rest_.empty()) throw Malformed{"'" + std::string(rest_) + "' follows a type"};
    return result;
  }
  std::vector<std::int64_t> list() {
    expect('[');
    std::vector<std::int64_t> numbers;
    while (!accept(']')) {
      if (!numbers.empty()) expect(',');
      numbers.push_back(number_of(take_until(",]")));
    }
    return numbers;
  }

 private:
  TypeTree type() {
    TypeTree result;
    result.kind = value_of<TypeKind>(kTypeKinds, take_until("("));
    result.arguments.clear();
    expect('(');
    for (bool is_first = true; !accept(')'); is_first = false) {
      if (!is_first) expect(',');
      if (rest_.starts_with('[')) {
        result.arguments.push_back(list());
      } else {
        result.children.push_back(type());
      }
    }
    return result;
  }
  std::string_view take_until(std::string_view ends) {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool accept(char expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char expected) {
    if (!accept(expected)) throw Malformed{std::string("'") + expected + "' is missing"};
  }

  std::string_view rest_;
};

std::vector<int> ints_of(std::string_view text) {
  std::vector<int> result;
  for (const std::int64_t number : TypeReader(text).list()) {
    result.push_back(static_cast<int>(number));
  }
  return result;
}

void read_word(Program& program, std::string_view name, std::string_view value) {
  if (name == "seed")
    program.seed = number_of<std::uint64_t>(value);
  else if (name == "nodes")
    program.nodes = ints_of(value);
  else if (name == "thread_a_file")
    program.has_thread_a_file = value == "yes";
  else if (name == "delay_every")
    program.delay_every = number_of<int>(value);
  else if (name == "chunk")
    program.chunk = number_of(value);
  else if (name == "real_files")
    program.on_real_files = value == "yes";
  else
    throw Malformed{"unknown name '" + std::string(name) + "'"};
}

void read_word(File& file, std::string_view name, std::string_view value) {
  if (name == "groups")
    file.groups = ints_of(value);
  else if (name == "size")
    file.size = number_of(value);
  else if (name == "mode")
    file.mode = mode_of(value);
  else if (name.starts_with("hint."))
    file.hints[std::string(name.substr(5))] = value;
  else
    throw Malformed{"unknown name '" + std::string(name) + "'"};
}

void read_word(Step& step, std::string_view name, std::string_view value) {
  if (name == "file")
    step.file = number_of<int>(value);
  else if (name == "id")
    step.id = number_of<int>(value);
  else if (name == "direction")
    step.is_write = value == "write";
  else if (name == "position")
    step.positioning = value_of<Positioning>(kPositionings, value);
  else if (name == "collective")
    step.is_collective = value == "yes";
  else if (name == "style")
    step.style = value_of<Style>(kStyles, value);
  else if (name == "whence")
    step.whence = value_of<Whence>(kWhences, value);
  else if (name == "value")
    step.value = number_of(value);
  else if (name == "atomic")
    step.atomic = value == "yes";
  else if (name == "cancels")
    step.cancels = value == "yes";
  else if (name == "looks")
    step.looks = value == "yes";
  else if (name == "how")
    step.completion = value_of<Completion>(kCompletions, value);
  else if (name == "mode")
    step.mode = mode_of(value);
  else if (name.starts_with("hint."))
    step.hints[std::string(name.substr(5))] = value;
  else
    throw Malformed{"unknown name '" + std::string(name) + "'"};
}

void read_word(Part& part, std::string_view name, std::string_view value) {
  if (name == "takes_part")
    part.takes_part = value == "yes";
  else if (name == "offset")
    part.offset = number_of(value);
  else if (name == "count")
    part.count = number_of(value);
  else if (name == "memory")
    part.memory = TypeReader(value).whole_type();
  else if (name == "absolute")
    part.absolute = value == "yes";
  else if (name == "displacement")
    part.view.displacement = number_of(value);
  else if (name == "current")
    part.view.current = value == "yes";
  else if (name == "etype")
    part.view.etype = TypeReader(value).whole_type();
  else if (name == "filetype")
    part.view.filetype = TypeReader(value).whole_type();
  else if (name == "waits")
    part.waits = ints_of(value);
  else
    throw Malformed{"unknown name '" + std::string(name) + "'"};
}

template <class Target>
void read_words(std::istringstream& words, Target& target) {
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Malformed{"'" + word + "' has no value"};
    const std::string_view all = word;
    read_word(target, all.substr(0, equals), all.substr(equals + 1));
  }
}

void read_line(Program& program, const std::string& line) {
  std::istringstream words(line);
  std::string first;
  if (!(words >> first) || first.starts_with('#')) return;
  if (first == "program") {
    read_words(words, program);
  } else if (first == "file") {
    read_words(words, program.files.emplace_back());
  } else if (first == "step") {
    std::string kind;
    words >> kind;
    Step& step = program.steps.emplace_back();
    step.kind = value_of<StepKind>(kStepKinds, kind);
    read_words(words, step);
  } else if (first == "part" && !program.steps.empty()) {
    read_words(words, program.steps.back().parts.emplace_back());
  } else {
    throw Malformed{"unknown line '" + first + "'"};
  }
}

void check_numbers(const Program& program) {
  for (const File& file : program.files) {
    if (file.groups.size() != program.nodes.size()) throw Malformed{"a file needs all groups"};
  }
  for (const Step& step : program.steps) {
    if (step.parts.size() != program.nodes.size()) throw Malformed{"a step needs all parts"};
    if (step.file < 0 || step.file >= std::ssize(program.files)) throw Malformed{"no such file"};
  }
}

}  // namespace

std::variant<Program, std::string> parse(const std::string& text) {
  Program program;
  std::istringstream lines(text);
  int number = 0;
  try {
    for (std::string line; std::getline(lines, line);) {
      ++number;
      read_line(program, line);
    }
    check_numbers(program);
  } catch (const Malformed& malformed) {
    return "line " + std::to_string(number) + ": " + malformed.reason;
  }
  return program;
}

}  // namespace headrace::fuzz
