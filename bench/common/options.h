#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headrace::bench {

/// A size in bytes on the command line: digits with an optional suffix k, m, g or t (powers of
/// 1024).
struct Size {
  std::int64_t bytes = 0;
};

/// How often a flag was given, for -v.
struct Level {
  int value = 0;
};

/// An option that the real program has and this one does not; giving it is an error that says so.
struct Unsupported {};

/// Where the value of an option goes.
using Target =
    std::variant<bool*, Level*, std::int64_t*, Size*, double*, std::string*, Unsupported>;

/// One line of an option table.
struct Option {
  char letter;            ///< 0 where there is only the long name
  std::string_view name;  ///< the long name and directive; compared without regard to case
  Target target;
  std::string_view help;
  std::int64_t minimum = INT64_MIN;  ///< smallest value allowed, for numbers and sizes
};

/// Reads a command line in these forms: -w, -wr (flags together), -b 4k, -b4k, -b=4k, --name,
/// --name=value, --name value, and `-O name=value[,name=value...]` where the table has the letter
/// O. Flags given by name take 0 or 1 (--showHints=1) and mean 1 without a value. Throws Failure
/// (exit code 2) for anything else.
class OptionParser {
 public:
  OptionParser(std::string program, std::string summary, std::vector<Option> options);

  void parse(int argc, char** argv);

  /// Sets the option with this long name, as -O does.
  void set(std::string_view name, std::string_view value);

  /// The help text: one line an option.
  std::string help() const;

 private:
  const Option* by_letter(char letter) const;
  const Option* by_name(std::string_view name) const;
  int parse_letters(std::string_view letters, const char* next);
  int parse_name(std::string_view text, const char* next);
  void set_list(std::string_view directives);
  [[noreturn]] void reject(const std::string& problem) const;

  std::string program_;
  std::string summary_;
  std::vector<Option> options_;
};

/// Parses digits with an optional suffix k, m, g or t. Returns false for anything else, for
/// negative numbers and on overflow.
bool parse_size(std::string_view text, std::int64_t& bytes);

/// "100000 bytes", "1 MiB", "32.21 GiB": exact where a power of two divides it.
std::string format_size(std::int64_t bytes);

}  // namespace headrace::bench
