#include "record/python_names.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/mixed_hash.h"
#include "record/own_memory.h"

namespace headrace::record {
namespace {

constexpr std::size_t kTypeAt = 8;
constexpr std::size_t kSizeAt = 16;  // of bytes, of a text, and of code (in units)
constexpr std::size_t kTextStateAt = 32;
constexpr std::size_t kBytesAt = 32;
constexpr std::size_t kMostLineBytes = 16384;

template <class T>
T field(const std::array<unsigned char, 256>& object, std::size_t at) {
  T value;
  std::memcpy(&value, object.data() + at, sizeof value);
  return value;
}

/// The head of a code object. False where it is none, or cannot be read.
bool read_code(const Python& python, std::uintptr_t code,
               std::array<unsigned char, 256>& object) noexcept {
  // The greatest offset is that of the instructions, of which there is one at least.
  return read_own_memory(reinterpret_cast<const void*>(code), object.data(),
                         python.layout.code_instructions) &&
         field<std::uintptr_t>(object, kTypeAt) == python.code_type;
}

// A text's kind is the size of its characters; only compact ones have them behind the head.
bool read_text(const Python& python, std::uintptr_t object, auto& text) {
  std::array<unsigned char, 40> head{};
  if (!read_own_memory(reinterpret_cast<const void*>(object), head.data(), head.size())) {
    return false;
  }
  std::uintptr_t type = 0;
  std::uint64_t length = 0;
  std::uint32_t state = 0;
  std::memcpy(&type, &head[kTypeAt], sizeof type);
  std::memcpy(&length, &head[kSizeAt], sizeof length);
  std::memcpy(&state, &head[kTextStateAt], sizeof state);
  const unsigned kind = state >> 2 & 7;
  const bool is_compact = (state & 32) != 0;
  const bool is_ascii = (state & 64) != 0;
  if (type != python.text_type || !is_compact) return false;
  if (kind != 1 && kind != 2 && kind != 4) return false;
  std::uintptr_t at = object + (is_ascii ? python.layout.text_ascii : python.layout.text_other);
  for (std::uint64_t i = 0; i < length;) {
    std::array<unsigned char, 256> part{};
    const std::size_t count = std::min<std::uint64_t>(length - i, part.size() / kind);
    if (!read_own_memory(reinterpret_cast<const void*>(at), part.data(), count * kind)) {
      return false;
    }
    for (std::size_t k = 0; k < count; ++k) {
      std::uint32_t character = 0;  // of a little-endian machine
      std::memcpy(&character, &part[k * kind], kind);
      if (!text.append(character)) return true;
    }
    i += count;
    at += count * kind;
  }
  return true;
}

// Six bits a byte, the least significant ones first; the lowest bit of all is the sign.
int signed_number(std::span<const unsigned char> bytes) {
  std::uint32_t value = 0;
  for (int shift = 0; shift < 30 && !bytes.empty(); shift += 6, bytes = bytes.subspan(1)) {
    value |= (bytes[0] & 63U) << shift;
    if ((bytes[0] & 64) == 0) break;
  }
  const int magnitude = static_cast<int>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

int read_line(const Python& python, std::uintptr_t table, int first_line, std::size_t unit) {
  std::array<unsigned char, kBytesAt> head{};
  if (!read_own_memory(reinterpret_cast<const void*>(table), head.data(), head.size())) return 0;
  std::uintptr_t type = 0;
  std::uint64_t size = 0;
  std::memcpy(&type, &head[kTypeAt], sizeof type);
  std::memcpy(&size, &head[kSizeAt], sizeof size);
  if (type != python.bytes_type) return 0;
  std::array<unsigned char, kMostLineBytes> bytes;
  const std::size_t length = std::min<std::uint64_t>(size, bytes.size());
  if (!read_own_memory(reinterpret_cast<const void*>(table + kBytesAt), bytes.data(), length)) {
    return 0;
  }
  return line_of_unit({bytes.data(), length}, first_line, unit);
}

}  // namespace

int line_of_unit(std::span<const unsigned char> table, int first_line, std::size_t unit) noexcept {
  int line = first_line;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < table.size();) {
    const unsigned code = table[i] >> 3 & 15;
    const std::size_t end = begin + (table[i] & 7) + 1;
    ++i;
    if (code == 13 || code == 14) {
      line += signed_number(table.subspan(i));
    } else if (code >= 10 && code <= 12) {
      line += static_cast<int>(code - 10);
    }
    if (unit < end) return code == 15 ? 0 : line;
    begin = end;
    while (i < table.size() && (table[i] & 0x80) == 0) ++i;  // an entry's first byte has this bit
  }
  return 0;
}

std::uint64_t mark_of_python_code(const Python& python, std::uintptr_t code) noexcept {
  const PythonLayout& layout = python.layout;
  std::array<unsigned char, 256> object{};
  if (!read_code(python, code, object)) return 0;
  std::uint64_t mark = field<std::int32_t>(object, layout.code_first_line);
  for (const std::size_t at :
       {kSizeAt, layout.code_file, layout.code_function, layout.code_lines}) {
    mark = golden_hash(std::rotl(mark, 13)) + field<std::uint64_t>(object, at);
  }
  return mark | 1;
}

bool read_python_place(const Python& python, std::uintptr_t code, std::uintptr_t instruction,
                       PythonPlace& place) noexcept {
  const PythonLayout& layout = python.layout;
  std::array<unsigned char, 256> object{};
  if (!read_code(python, code, object)) return false;
  const auto units = field<std::uint64_t>(object, kSizeAt);
  const std::uint64_t unit = (instruction - code - layout.code_instructions) / 2;
  if (units == 0 || units > 1U << 28 || unit >= units) return false;
  if (!read_text(python, field<std::uintptr_t>(object, layout.code_function), place.function) ||
      !read_text(python, field<std::uintptr_t>(object, layout.code_file), place.file)) {
    return false;
  }
  place.line = read_line(python, field<std::uintptr_t>(object, layout.code_lines),
                         field<std::int32_t>(object, layout.code_first_line), unit);
  return true;
}

}  // namespace headrace::record
