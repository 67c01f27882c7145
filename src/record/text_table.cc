#include "record/text_table.h"

namespace headrace::record {
namespace {

/// The length of the character at the front, by the table of well-formed ones in the Unicode
/// standard; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
      text.remove_prefix(1);
      continue;
    }
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

std::int64_t TextTable::place(std::string_view text) {
  if (text.empty()) return -1;
  const auto [found, is_new] =
      places_.try_emplace(escaped(text), static_cast<std::int64_t>(texts_.size()));
  if (is_new) texts_.push_back(found->first);
  return found->second;
}

}  // namespace headrace::record
