#include "base/spelling.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace headrace {
namespace {

std::string_view without_ends(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// Smallest number of insertions, deletions and replacements that turn one text into the other
/// (Wagner and Fischer, Journal of the ACM 21(1), 1974).
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] != to[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string result(text.substr(0, most));
  for (char& letter : result) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
  }
  if (text.size() > most) result += "...";
  return result;
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t least = name.size() / 4 + 1;
  for (const std::string_view candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string_view without_blanks(std::string_view text) {
  return without_ends(text, " \t");
}

std::string_view trimmed(std::string_view text) {
  return without_ends(text, " \t\r\n");
}

}  // namespace headrace
