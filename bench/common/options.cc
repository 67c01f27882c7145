#include "common/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "common/failure.h"

namespace headrace::bench {
namespace {

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char character) { return std::tolower(character); });
  return result;
}

bool is_flag(const Option& option) {
  return std::holds_alternative<bool*>(option.target) ||
         std::holds_alternative<Level*>(option.target);
}

std::string title(const Option& option) {
  std::string text = option.letter != 0 ? std::string("-") + option.letter + " (" : "--";
  text += option.name;
  return option.letter != 0 ? text + ")" : text;
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// Stores the value; returns the reason where it does not fit, else an empty text.
std::string store(const Option& option, std::string_view text) {
  const auto too_small = [&](std::int64_t value) {
    return value < option.minimum ? "must be at least " + std::to_string(option.minimum)
                                  : std::string();
  };
  return std::visit(
      Match{
          [&](bool* flag) -> std::string {
            if (text != "0" && text != "1") return "must be 0 or 1";
            *flag = text == "1";
            return {};
          },
          [&](Level* level) -> std::string {
            return parse_number(text, level->value) ? std::string() : "must be a number";
          },
          [&](std::int64_t* number) -> std::string {
            if (!parse_number(text, *number)) return "must be a whole number";
            return too_small(*number);
          },
          [&](Size* size) -> std::string {
            if (!parse_size(text, size->bytes)) return "must be a size such as 4096, 4k, 2m or 1g";
            return too_small(size->bytes);
          },
          [&](double* number) -> std::string {
            const bool is_number = parse_number(text, *number) && std::isfinite(*number);
            return is_number && *number >= 0 ? std::string() : "must be a number from 0 on";
          },
          [&](std::string* string) -> std::string {
            if (text.empty()) return "must not be empty";
            *string = text;
            return {};
          },
          [&](Unsupported) -> std::string { return "is not supported by this program"; },
      },
      option.target);
}

}  // namespace

OptionParser::OptionParser(std::string program, std::string summary, std::vector<Option> options)
    : program_(std::move(program)), summary_(std::move(summary)), options_(std::move(options)) {}

void OptionParser::reject(const std::string& problem) const {
  throw AgreedFailure(problem + ", see '" + program_ + " -h'", 2);
}

const Option* OptionParser::by_letter(char letter) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.letter == letter; });
  return found == options_.end() || letter == 0 ? nullptr : &*found;
}

const Option* OptionParser::by_name(std::string_view name) const {
  const std::string wanted = lower(name);
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const Option& option) {
    return lower(option.name) == wanted;
  });
  return found == options_.end() ? nullptr : &*found;
}

void OptionParser::set(std::string_view name, std::string_view value) {
  const Option* option = by_name(name);
  if (option == nullptr) reject("unknown option '" + std::string(name) + "'");
  const std::string reason = store(*option, value);
  if (reason.empty()) return;
  if (std::holds_alternative<Unsupported>(option->target)) reject(title(*option) + " " + reason);
  reject("bad value '" + std::string(value) + "' for " + title(*option) + " (it " + reason + ")");
}

void OptionParser::set_list(std::string_view directives) {
  while (!directives.empty()) {
    const std::size_t comma = directives.find(',');
    const std::string_view item = directives.substr(0, comma);
    const std::size_t equal = item.find('=');
    if (equal == std::string_view::npos) {
      reject("bad directive '" + std::string(item) + "' for -O (it must be name=value)");
    }
    set(item.substr(0, equal), item.substr(equal + 1));
    directives.remove_prefix(comma == std::string_view::npos ? directives.size() : comma + 1);
  }
}

int OptionParser::parse_letters(std::string_view letters, const char* next) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Option* option = by_letter(letters[i]);
    if (option == nullptr) reject(std::string("unknown option '-") + letters[i] + "'");
    const bool is_list = option->letter == 'O';
    if (std::holds_alternative<Unsupported>(option->target) && !is_list) set(option->name, "");
    if (auto* const* flag = std::get_if<bool*>(&option->target)) {
      **flag = true;
      continue;
    }
    if (auto* const* level = std::get_if<Level*>(&option->target)) {
      ++(*level)->value;
      continue;
    }
    std::string_view value = letters.substr(i + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    const bool attached = i + 1 < letters.size();
    if (!attached && next == nullptr) reject("missing value for " + title(*option));
    if (!attached) value = next;
    is_list ? set_list(value) : set(option->name, value);
    return attached ? 0 : 1;
  }
  return 0;
}

int OptionParser::parse_name(std::string_view text, const char* next) {
  const std::size_t equal = text.find('=');
  const std::string_view name = text.substr(0, equal);
  const Option* option = by_name(name);
  if (option == nullptr) reject("unknown option '--" + std::string(name) + "'");
  if (equal != std::string_view::npos) {
    set(name, text.substr(equal + 1));
    return 0;
  }
  if (is_flag(*option) || std::holds_alternative<Unsupported>(option->target)) {
    set(name, "1");
    return 0;
  }
  if (next == nullptr) reject("missing value for " + title(*option));
  set(name, next);
  return 1;
}

void OptionParser::parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const char* next = i + 1 < argc ? argv[i + 1] : nullptr;
    if (argument.starts_with("--") && argument.size() > 2) {
      i += parse_name(argument.substr(2), next);
    } else if (argument.starts_with('-') && argument.size() > 1 && argument != "--") {
      i += parse_letters(argument.substr(1), next);
    } else {
      reject("unexpected argument '" + std::string(argument) + "'");
    }
  }
}

std::string OptionParser::help() const {
  std::string text = summary_ + "\n\n";
  for (const Option& option : options_) {
    if (std::holds_alternative<Unsupported>(option.target)) continue;
    char line[256];
    const char* argument = is_flag(option)                                       ? ""
                           : std::holds_alternative<std::string*>(option.target) ? "S"
                                                                                 : "N";
    const std::string letter =
        option.letter != 0 ? std::string("-") + option.letter + " " + argument : std::string();
    std::snprintf(line, sizeof line, "  %-5s %-26s %s\n", letter.c_str(),
                  std::string(option.name).c_str(), std::string(option.help).c_str());
    text += line;
  }
  return text;
}

bool parse_size(std::string_view text, std::int64_t& bytes) {
  int shift = 0;
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0) {
    switch (std::tolower(static_cast<unsigned char>(text.back()))) {
      case 'k': shift = 10; break;
      case 'm': shift = 20; break;
      case 'g': shift = 30; break;
      case 't': shift = 40; break;
      default: return false;
    }
    text.remove_suffix(1);
  }
  std::int64_t number = 0;
  if (!parse_number(text, number) || number < 0 || number > (INT64_MAX >> shift)) return false;
  bytes = number << shift;
  return true;
}

std::string format_size(std::int64_t bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (std::int64_t rest = bytes; unit < 4 && rest >= 1024; rest /= 1024) ++unit;
  const double value =
      static_cast<double>(bytes) / static_cast<double>(std::int64_t{1} << 10 * unit);
  const bool whole = bytes % (std::int64_t{1} << 10 * unit) == 0;
  if (unit == 1 && !whole) return std::to_string(bytes) + " bytes";
  char text[64];
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text;
}

}  // namespace headrace::bench
