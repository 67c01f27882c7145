#include "file/hint_patterns.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/first_lines.h"
#include "base/name_pattern.h"
#include "base/spelling.h"

namespace headrace::file {
namespace {

constexpr auto kNone = std::string_view::npos;

bool is_key_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// Whether KEY= follows.
bool begins_hint(std::string_view text) {
  const auto* const end = std::ranges::find_if_not(text, is_key_letter);
  return end != text.begin() && end != text.end() && *end == '=';
}

/// HOST:COUNT, as cb_config_list has it.
bool is_host(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == 0 || colon == kNone) return false;
  const std::string_view count = text.substr(colon + 1);
  return count == "*" || (!count.empty() && std::ranges::all_of(count, [](char letter) {
           return letter >= '0' && letter <= '9';
         }));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  ParsedPatterns read() {
    while (true) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n,", at_), text_.size());
      if (at_ == text_.size()) break;
      read_specification();
    }
    parsed_.problems = problems_.take();
    return std::move(parsed_);
  }

 private:
  /// From `begin` on: the first comma, colon before KEY=, or end.
  std::size_t end_of_pattern(std::size_t begin) const {
    std::size_t at = begin;
    while (at < text_.size() && text_[at] != ',') {
      if (text_[at] == ':' && begins_hint(text_.substr(at + 1))) return at;
      const std::size_t set_end = text_[at] == '[' ? end_of_set(text_, at) : kNone;
      // A bracket of another pattern, behind a colon with a hint, closes none of this one.
      const bool is_set = set_end != kNone && is_plain_set(at, set_end);
      at = is_set ? set_end : at + (text_[at] == '\\' && at + 1 < text_.size() ? 2U : 1U);
    }
    return at;
  }

  bool is_plain_set(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin).find('=') == kNone;
  }

  void read_specification() {
    const std::size_t begin = at_;
    at_ = end_of_pattern(begin);
    const std::string_view pattern = trimmed(text_.substr(begin, at_ - begin));
    if (at_ == text_.size() || text_[at_] == ',') {
      return refuse(begin, pattern,
                    begins_hint(pattern) ? "it is no pattern with hints" : "no hints follow it",
                    begins_hint(pattern) ? "write : between hints, , between patterns"
                                         : "write PATTERN:KEY=VALUE");
    }
    std::map<std::string, std::string> hints;
    while (at_ < text_.size() && text_[at_] == ':') read_hint(hints);
    if (pattern.empty()) return refuse(begin, ":", "it has no pattern", "write * for all files");
    if (pattern.size() > kLongestPattern) {
      return refuse(begin, pattern, "no path is as long", "write a shorter pattern");
    }
    add(std::string(pattern), std::move(hints));
  }

  void read_hint(std::map<std::string, std::string>& hints) {
    const std::size_t begin = ++at_;
    const std::size_t equals = text_.find('=', at_);
    const std::string key(text_.substr(at_, equals - at_));
    at_ = equals + 1;
    std::string value = take_value(key);
    if (value.empty()) return refuse(begin, key + "=", "it has no value", "write KEY=VALUE");
    hints[key] = std::move(value);
  }

  std::string take_value(const std::string& key) {
    if (at_ < text_.size() && text_[at_] == '#') {
      const std::size_t end = text_.find('#', at_ + 1);
      if (end != kNone) return take_quoted(end);
    }
    std::string value;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == ':' && begins_hint(text_.substr(at_ + 1))) break;
      if (text_[at_] == ',' && ends_value(key, at_)) break;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    return std::string(trimmed(value));
  }

  std::string take_quoted(std::size_t end) {
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' &&
           !(text_[at_] == ':' && begins_hint(text_.substr(at_ + 1)))) {
      ++at_;
    }
    const std::string_view rest = trimmed(text_.substr(begin, at_ - begin));
    if (!rest.empty()) refuse(begin, rest, "it stands behind a value in #", "leave it out");
    return value;
  }

  /// Whether the comma at `comma` ends a value of `key`.
  bool ends_value(const std::string& key, std::size_t comma) const {
    const std::size_t begin = comma + 1;
    const std::size_t end = end_of_pattern(begin);
    const std::string_view next = trimmed(text_.substr(begin, end - begin));
    const bool has_hints = end < text_.size() && text_[end] == ':';
    if (key == "cb_config_list" && is_host(next)) return false;
    return has_hints || next.empty() || begins_hint(next);
  }

  void add(std::string pattern, std::map<std::string, std::string> hints) {
    const auto found = std::ranges::find(parsed_.hints, pattern, &PatternHints::pattern);
    if (found == parsed_.hints.end()) {
      parsed_.hints.push_back({std::move(pattern), std::move(hints)});
      return;
    }
    hints.merge(found->hints);  // what comes last counts
    found->hints = std::move(hints);
  }

  void refuse(std::size_t at, std::string_view what, const char* why, const char* remedy) {
    problems_.add("'" + printable(what) + "' at character " + std::to_string(at + 1) +
                  " is ignored (" + why + "), " + remedy);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  ParsedPatterns parsed_;
  FirstLines problems_;
};

}  // namespace

ParsedPatterns parse_hint_patterns(std::string_view text) {
  return Reader(text).read();
}

}  // namespace headrace::file
