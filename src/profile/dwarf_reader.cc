#include "profile/dwarf_reader.h"

namespace headrace::profile {
namespace {

// Encodings of pointers: Linux Standard Base, Core, "DWARF Exception Header Encoding".
constexpr std::uint8_t kFormat = 0x0f;
constexpr std::uint8_t kRelative = 0x70;
constexpr std::uint8_t kToPlace = 0x10;
constexpr std::uint8_t kToData = 0x30;

constexpr unsigned kWordBits = 64;

}  // namespace

std::uint64_t DwarfReader::unsigned_leb() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kWordBits; shift += 7) {
    const auto byte = number<std::uint8_t>();
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail();
  return 0;
}

std::int64_t DwarfReader::signed_leb() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kWordBits;) {
    const auto byte = number<std::uint8_t>();
    value |= std::uint64_t{byte & 0x7fU} << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if ((byte & 0x40) != 0 && shift < kWordBits) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
  fail();
  return 0;
}

const char* DwarfReader::text() noexcept {
  const auto* const begin = reinterpret_cast<const char*>(at_);
  const auto* const zero = std::memchr(at_, 0, static_cast<std::size_t>(end_ - at_));
  if (zero == nullptr) {
    fail();
    return nullptr;
  }
  at_ = static_cast<const std::byte*>(zero) + 1;
  return begin;
}

void DwarfReader::skip(std::uint64_t bytes) noexcept {
  if (bytes > static_cast<std::uint64_t>(end_ - at_)) return fail();
  at_ += bytes;
}

std::uintptr_t DwarfReader::pointer(std::uint8_t encoding, std::uintptr_t data) noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(at_);
  std::uintptr_t value = 0;
  switch (encoding & kFormat) {
    case 0x00:
    case 0x04:
    case 0x0c: value = number<std::uint64_t>(); break;
    case 0x01: value = unsigned_leb(); break;
    case 0x02: value = number<std::uint16_t>(); break;
    case 0x03: value = number<std::uint32_t>(); break;
    case 0x09: value = static_cast<std::uintptr_t>(signed_leb()); break;
    case 0x0a: value = static_cast<std::uintptr_t>(std::intptr_t{number<std::int16_t>()}); break;
    case 0x0b: value = static_cast<std::uintptr_t>(std::intptr_t{number<std::int32_t>()}); break;
    default: fail(); return 0;
  }
  switch (encoding & kRelative) {
    case 0x00: return value;
    case kToPlace: return value + place;
    case kToData: return value + data;
    default: fail(); return 0;
  }
}

}  // namespace headrace::profile
