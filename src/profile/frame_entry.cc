#include "profile/frame_entry.h"

#include "profile/dwarf_reader.h"

namespace headrace::profile {
namespace {

constexpr std::uint8_t kSorted = 0x3b;  // relative to the header, four bytes with sign
constexpr std::size_t kHeader = 4;

/// A length and what it counts; nothing behind a longer form, which compilers do not make here.
std::optional<DwarfReader> body_of(const CodeRange& object, const std::byte* place) noexcept {
  if (place < object.readable_begin || place >= object.readable_end) return std::nullopt;
  DwarfReader reader(place, object.readable_end);
  const auto length = reader.number<std::uint32_t>();
  if (reader.has_failed() || length == 0 || length == 0xffffffff) return std::nullopt;
  if (length > static_cast<std::size_t>(reader.end() - reader.at())) return std::nullopt;
  return DwarfReader(reader.at(), reader.at() + length);
}

struct Common {
  bool has_augmentation = false;
};

/// The letters of a CIE's augmentation, and their data.
bool take_augmentation(FrameEntry& entry, DwarfReader& reader, const char* letters) noexcept {
  if (*letters == '\0') return true;
  if (*letters++ != 'z') return false;
  reader.unsigned_leb();
  for (; *letters != '\0'; ++letters) {
    switch (*letters) {
      case 'R': entry.encoding = reader.number<std::uint8_t>(); break;
      case 'P': reader.pointer(reader.number<std::uint8_t>() & 0x0f, 0); break;
      case 'L': reader.number<std::uint8_t>(); break;
      case 'S': entry.is_signal_frame = true; break;
      case 'B': break;
      default: return false;
    }
  }
  return !reader.has_failed();
}

bool take_common(FrameEntry& entry, const CodeRange& object, const std::byte* place,
                 Common& common) noexcept {
  auto reader = body_of(object, place);
  if (!reader || reader->number<std::uint32_t>() != 0) return false;
  const auto version = reader->number<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  const char* const letters = reader->text();
  if (letters == nullptr) return false;
  entry.code_factor = reader->unsigned_leb();
  entry.data_factor = reader->signed_leb();
  entry.return_column = version == 1 ? reader->number<std::uint8_t>() : reader->unsigned_leb();
  common.has_augmentation = *letters == 'z';
  DwarfReader data = *reader;
  if (!take_augmentation(entry, data, letters)) return false;
  if (common.has_augmentation) {
    const std::uint64_t size = reader->unsigned_leb();
    reader->skip(size);
  }
  entry.common_begin = reader->at();
  entry.common_end = reader->end();
  return !reader->has_failed();
}

std::optional<FrameEntry> read_entry(const CodeRange& object, const std::byte* place) noexcept {
  auto reader = body_of(object, place);
  if (!reader) return std::nullopt;
  const std::byte* const pointed = reader->at();
  const auto distance = reader->number<std::uint32_t>();
  if (distance == 0 || distance > pointed - object.readable_begin) return std::nullopt;
  FrameEntry entry;
  Common common;
  if (!take_common(entry, object, pointed - distance, common)) return std::nullopt;
  entry.begin = reader->pointer(entry.encoding, 0);
  entry.end = entry.begin + reader->pointer(entry.encoding & 0x0f, 0);
  if (common.has_augmentation) {
    const std::uint64_t size = reader->unsigned_leb();
    reader->skip(size);
  }
  if (reader->has_failed()) return std::nullopt;
  entry.own_begin = reader->at();
  entry.own_end = reader->end();
  return entry;
}

struct Pair {
  std::int32_t function;
  std::int32_t entry;
};

Pair pair_at(const std::byte* table, std::size_t place) noexcept {
  Pair pair{};
  std::memcpy(&pair, table + place * sizeof pair, sizeof pair);
  return pair;
}

}  // namespace

std::optional<FrameEntry> find_entry(const CodeRange& object, std::uintptr_t address) noexcept {
  if (object.header == nullptr || object.header_size < kHeader) return std::nullopt;
  const auto base = reinterpret_cast<std::uintptr_t>(object.header);
  DwarfReader reader(object.header, object.header + object.header_size);
  const auto version = reader.number<std::uint8_t>();
  const auto frame_encoding = reader.number<std::uint8_t>();
  const auto count_encoding = reader.number<std::uint8_t>();
  const auto table_encoding = reader.number<std::uint8_t>();
  if (version != 1 || table_encoding != kSorted || count_encoding == kOmitted) return std::nullopt;
  reader.pointer(frame_encoding, base);
  const std::size_t count = reader.pointer(count_encoding, base);
  const std::size_t room = static_cast<std::size_t>(reader.end() - reader.at()) / sizeof(Pair);
  if (reader.has_failed() || count == 0 || count > room) return std::nullopt;
  const std::byte* const table = reader.at();
  const auto wanted = static_cast<std::intptr_t>(address - base);
  std::size_t low = 0;
  std::size_t high = count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (pair_at(table, middle).function <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  const std::intptr_t distance = pair_at(table, low - 1).entry;
  const auto found = read_entry(object, object.header + distance);
  if (!found || address < found->begin || address >= found->end) return std::nullopt;
  return found;
}

}  // namespace headrace::profile
