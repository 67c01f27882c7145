#include "base/name_pattern.h"

namespace headrace {
namespace {

constexpr auto kNone = std::string_view::npos;

/// `set`: what stands between the brackets.
bool is_in_set(std::string_view set, char letter) {
  const bool is_outside = set.starts_with('!') || set.starts_with('^');
  if (is_outside) set.remove_prefix(1);
  bool found = false;
  while (!set.empty()) {
    const bool is_range = set.size() > 2 && set[1] == '-';
    const auto low = static_cast<unsigned char>(set.front());
    const auto high = static_cast<unsigned char>(is_range ? set[2] : set.front());
    const auto code = static_cast<unsigned char>(letter);
    found = found || (low <= code && code <= high);
    set.remove_prefix(is_range ? 3 : 1);
  }
  return found != is_outside;
}

/// What one step of a pattern says of one character: how far the pattern goes on, 0 where it does
/// not match.
std::size_t step_of(std::string_view pattern, std::size_t at, char letter) {
  if (at >= pattern.size()) return 0;
  if (pattern[at] == '?') return 1;
  if (pattern[at] == '[') {
    const std::size_t end = end_of_set(pattern, at);
    if (end != kNone) {
      return is_in_set(pattern.substr(at + 1, end - at - 2), letter) ? end - at : 0;
    }
  }
  const bool is_escaped = pattern[at] == '\\' && at + 1 < pattern.size();
  const std::size_t length = is_escaped ? 2 : 1;
  return pattern[at + length - 1] == letter ? length : 0;
}

}  // namespace

std::size_t end_of_set(std::string_view text, std::size_t begin) {
  constexpr std::size_t kLongest = 64;
  const std::string_view set = text.substr(begin, kLongest);
  std::size_t at = 1;
  if (at < set.size() && (set[at] == '!' || set[at] == '^')) ++at;
  // The first character may be the bracket itself.
  const std::size_t end = set.find(']', at + 1);
  return end == kNone ? kNone : begin + end + 1;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.size() > kLongestPattern) return false;
  std::size_t at = 0;
  std::size_t after_star = kNone;  // where the pattern goes on behind its last *
  std::size_t retried = 0;         // where the name goes on then
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      after_star = ++at;
      retried = i;
    } else if (const std::size_t step = step_of(pattern, at, name[i]); step > 0) {
      at += step;
      ++i;
    } else if (after_star != kNone) {
      at = after_star;
      i = ++retried;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == kNone || at >= pattern.size();
}

}  // namespace headrace
