#include <algorithm>
#include <sstream>

#include "base/name_pattern.h"
#include "base/settings.h"
#include "file/hint_file.h"
#include "file/hint_patterns.h"
#include "file/hints.h"
#include "file/prefixed_name.h"
#include "parsers/target.h"

// Parsers of text: settings, hints, file names.

namespace headrace::parsers {
namespace {

std::vector<std::string> lines_of(const Input& input) {
  std::vector<std::string> lines(1);
  for (const std::uint8_t letter : input) {
    if (letter == '\n') {
      lines.emplace_back();
    } else if (letter != 0) {  // the environment and MPI_Info hold C's strings
      lines.back() += static_cast<char>(letter);
    }
  }
  return lines;
}

std::vector<Input> texts(std::initializer_list<std::string> all) {
  std::vector<Input> inputs;
  for (const std::string& text : all) inputs.emplace_back(text.begin(), text.end());
  return inputs;
}

void check_messages(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    require(problem.size() < 1000, "a message of " + std::to_string(problem.size()) + " letters");
    const bool is_plain = std::ranges::none_of(problem, [](char letter) {
      return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
    });
    require(is_plain, "a message with control characters");
  }
}

void require_within(std::int64_t value, std::int64_t least, std::int64_t most, const char* what) {
  require(value >= least && value <= most, std::string(what) + " is " + std::to_string(value));
}

void run_settings(const Input& input) {
  const std::vector<std::string> entries = lines_of(input);
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  std::vector<std::string> problems;
  const Settings settings = read_settings(environment.data(), problems);
  require(problems.size() <= 20, std::to_string(problems.size()) + " messages");
  check_messages(problems);
  if (settings.buffer_size != 0) {
    require_within(settings.buffer_size, 64 << 10, 256 << 20, "buffer_size");
  }
  require_within(settings.buffer_count, 0, 64, "buffer_count");  // 0: by itself
  require_within(settings.node_memory, 0, std::int64_t{64} << 30, "node_memory");
  require_within(settings.helper_threads, 1, 64, "helper_threads");
  require_within(static_cast<int>(settings.write_path), 0, 2, "write_path");
  require_within(static_cast<int>(settings.shared_memory), 0, 3, "shared_memory");
}

std::vector<Input> settings_corpus() {
  return texts({"HEADRACE_DISABLE=1\nHEADRACE_QUIET=no\nHEADRACE_BUFFER_SIZE=1m\nPATH=/bin",
                "HEADRACE_BUFFER_SIZE=9223372036854775807g\nHEADRACE_BUFFER_COUNT=-1",
                "HEADRACE_NODE_MEMORY=64GiB\nHEADRACE_WRITE_PATH=staged\nHEADRACE_SHARED_MEMORY=",
                "HEADRACE_HELPER_THREADS=64\nHEADRACE_VERIFY=on\nHEADRACE_=\n=\nHEADRACE_LISTEN"});
}

file::Hints parse_hints(const Input& input) {
  file::Hints hints;
  for (const std::string& line : lines_of(input)) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) hints[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return hints;
}

void run_hints(const Input& input) {
  file::HintValues values = file::default_hint_values();
  std::vector<std::string> problems;
  const file::Hints given = parse_hints(input);
  const file::Hints good = file::apply_hints(given, values, problems);
  check_messages(problems);
  require(good.size() + problems.size() == given.size(), "a hint is neither taken nor named");
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  if (values.buffer_size != 0) {
    require_within(values.buffer_size, 64 << 10, kLargest, "cb_buffer_size");
  }
  require_within(values.sieve_size, 4 << 10, kLargest, "ind_rd_buffer_size");
  require_within(values.striping_unit, 0, kLargest, "striping_unit");
  // What MPI_File_get_info tells asks for the same again.
  file::HintValues again = file::default_hint_values();
  std::vector<std::string> none;
  file::apply_hints(file::hints_of(values), again, none);
  require(none.empty(), "a hint that was told is not understood");
  require(again.write_path == values.write_path && again.read_path == values.read_path &&
              again.buffer_size == values.buffer_size && again.sieve_size == values.sieve_size &&
              again.striping_unit == values.striping_unit,
          "hints that were told ask for something else");
}

std::vector<Input> hints_corpus() {
  return texts({"cb_buffer_size=16777216\nromio_cb_write=enable\nromio_cb_read=disable",
                "striping_unit=1048576\nstriping_factor=4\ncb_nodes=8\ncollective_buffering=true",
                "striping_unit=-1\ncb_buffer_size=99999999999999999999\nind_rd_buffer_size=0",
                "headrace_write_path=staged\nheadrace_read_path=automatic\naccess_style=x,y\n=\n"});
}

void check_hints(const std::vector<PatternHints>& all) {
  for (const PatternHints& one : all) {
    for (const auto& [name, value] : one.hints) {
      require(!name.empty(), "an empty name");
      // Info objects hold C's strings.
      require((name + value).find('\0') == std::string::npos, "a zero in a hint");
    }
  }
}

void run_hint_file(const Input& input) {
  const file::HintFile file =
      file::parse_hint_file(std::string(input.begin(), input.end()), "file");
  check_messages(file.problems);
  check_hints(file.hints);
}

std::vector<Input> hint_file_corpus() {
  return texts({"# comment\ncb_nodes 32\n\tcb_config_list  a:1,b\r\nromio_cb_write enable",
                "cb_nodes\n\ncb_nodes 1 2\n#cb_nodes 1\n # x y\n", std::string("a\0b c\n", 6),
                "[hints]\na = 1_0\nb = \"x\\u00e9\\\"\" # c\n[hints.'*.h5']\nc=true\n[settings]",
                "[ hints . \"a\\n\" ]\n\"k y\" = 'v'\nk = \"\"\"\nz = -0\n[[x]]\n[hints\n"});
}

void run_hint_patterns(const Input& input) {
  std::string text(input.begin(), input.end());
  text = text.substr(0, text.find('\0'));  // the environment holds C's strings
  const file::ParsedPatterns parsed = file::parse_hint_patterns(text);
  check_messages(parsed.problems);
  check_hints(parsed.hints);
  for (const PatternHints& one : parsed.hints) {
    require(!one.pattern.empty(), "an empty pattern");
    const bool is_plain = one.pattern.find_first_of("*?[\\") == std::string::npos;
    const bool is_itself = matches(one.pattern, one.pattern);
    require(!is_plain || is_itself, "a plain pattern does not match itself");
    require(matches("*", one.pattern), "* does not match everything");
    static_cast<void>(matches(one.pattern, text));
  }
}

std::vector<Input> hint_patterns_corpus() {
  return texts({"*.h5:romio_cb_write=enable:cb_nodes=8,/a/b.*:striping_unit=4m",
                "ufs:/a:cb_config_list=n1:2,n2:*:cb_nodes=3,*:a=1,b=2",
                "*:cb_config_list=#*:2#:x=y", "a\\,b\\:c:d=e\\,f,[a-z],[!]x]?*:k=v",
                ":a=b,,:,=,a:=,*:=:a="});
}

void run_file_name(const Input& input) {
  const std::string name(input.begin(), input.end());
  const std::optional<std::string_view> path = file::path_of(name);
  if (!path) return require(name.find(':') != std::string::npos, "a plain path is refused");
  require(name.ends_with(*path), "the path is no end of the name");
}

std::vector<Input> file_name_corpus() {
  return texts({"ufs:/a/b", "lustre:x", "pvfs2:/a", "/plain/path", "a:b:c", ":", "nfs:"});
}

}  // namespace

const Target settings_target{"settings", run_settings, settings_corpus};
const Target hints_target{"hints", run_hints, hints_corpus};
const Target hint_file_target{"hint_file", run_hint_file, hint_file_corpus};
const Target hint_patterns_target{"hint_patterns", run_hint_patterns, hint_patterns_corpus};
const Target file_name_target{"file_name", run_file_name, file_name_corpus};

}  // namespace headrace::parsers
