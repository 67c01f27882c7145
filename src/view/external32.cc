#include "view/external32.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "view/cursor.h"
#include "view/floating.h"
#include "view/wide.h"

namespace headrace::view {
namespace {

constexpr bool kHostIsBigEndian = std::endian::native == std::endian::big;
constexpr ByteCount kLargestValue = 16;

void copy_reversed(const std::byte* source, std::byte* target, ByteCount size) {
  std::reverse_copy(source, source + size, target);
}

/// Copies a value of this processor to or from big-endian.
void copy_value(const std::byte* source, std::byte* target, ByteCount size) {
  if (kHostIsBigEndian) {
    std::memcpy(target, source, static_cast<std::size_t>(size));
  } else {
    copy_reversed(source, target, size);
  }
}

template <class Word>
void swap_words(const std::byte* source, std::byte* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, source + i * sizeof word, sizeof word);
    if constexpr (sizeof word == 2) word = __builtin_bswap16(word);
    if constexpr (sizeof word == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof word == 8) word = __builtin_bswap64(word);
    std::memcpy(target + i * sizeof word, &word, sizeof word);
  }
}

/// Copies values that differ from those in the file at most in byte order.
void swap_values(ByteCount size, std::int64_t count, const std::byte* source, std::byte* target) {
  if (size == 1 || kHostIsBigEndian) {
    std::memcpy(target, source, static_cast<std::size_t>(size * count));
    return;
  }
  switch (size) {
    case 2: return swap_words<std::uint16_t>(source, target, count);
    case 4: return swap_words<std::uint32_t>(source, target, count);
    case 8: return swap_words<std::uint64_t>(source, target, count);
    default:
      for (std::int64_t i = 0; i < count; ++i) {
        copy_reversed(source + i * size, target + i * size, size);
      }
  }
}

/// Writes a big-endian integer of `from` bytes as one of `to` bytes. Returns whether it fitted.
bool resize_integer(Kind kind, const std::byte* source, ByteCount from, std::byte* target,
                    ByteCount to) {
  const ByteCount kept = std::min(from, to);
  constexpr std::byte kSign{0x80};
  const bool is_negative = kind == Kind::signed_integer && (source[0] & kSign) != std::byte{0};
  const std::byte filler = is_negative ? std::byte{0xff} : std::byte{0};
  std::fill_n(target, to - kept, filler);
  std::copy_n(source + from - kept, kept, target + to - kept);
  // A true value stays true even if its nonzero bytes are cut off.
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (kind == Kind::logical && std::all_of(target, target + to, is_zero) &&
      !std::all_of(source, source + from, is_zero)) {
    target[to - 1] = std::byte{1};
  }
  if (kind != Kind::signed_integer && kind != Kind::unsigned_integer) return true;
  const bool keeps_sign =
      kind == Kind::unsigned_integer || ((target[0] ^ filler) & kSign) == std::byte{0};
  return keeps_sign && std::all_of(source, source + from - kept,
                                   [filler](std::byte byte) { return byte == filler; });
}

/// The format of a floating point value in memory.
FloatingFormat native_format(Kind kind, ByteCount size) {
  return kind == Kind::long_double ? long_double_format() : ieee_format(size);
}

/// The sizes of one value in memory and in the file.
struct ValueSizes {
  ByteCount native;
  ByteCount stored;
};

ValueSizes sizes_of(const Element& element) {
  return {element.native_size / element.values, element.stored_size / element.values};
}

bool only_order_differs(const Element& element) {
  const ValueSizes sizes = sizes_of(element);
  if (sizes.native != sizes.stored) return false;
  return element.kind != Kind::long_double || long_double_format() == ieee_format(sizes.stored);
}

bool value_to_external32(Kind kind, const std::byte* native, std::byte* stored,
                         const ValueSizes& sizes) {
  std::array<std::byte, kLargestValue> big_endian{};
  if (kind == Kind::floating || kind == Kind::long_double) {
    const FloatingFormat format = native_format(kind, sizes.native);
    copy_value(native, big_endian.data(), format.size);
    convert_floating(format, big_endian.data(), ieee_format(sizes.stored), stored);
    return true;
  }
  copy_value(native, big_endian.data(), sizes.native);
  return resize_integer(kind, big_endian.data(), sizes.native, stored, sizes.stored);
}

bool value_from_external32(Kind kind, const std::byte* stored, std::byte* native,
                           const ValueSizes& sizes) {
  std::array<std::byte, kLargestValue> big_endian{};
  if (kind == Kind::floating || kind == Kind::long_double) {
    const FloatingFormat format = native_format(kind, sizes.native);
    convert_floating(ieee_format(sizes.stored), stored, format, big_endian.data());
    copy_value(big_endian.data(), native, format.size);
    std::fill_n(native + format.size, sizes.native - format.size, std::byte{0});  // x87's padding
    return true;
  }
  const bool fits = resize_integer(kind, stored, sizes.stored, big_endian.data(), sizes.native);
  copy_value(big_endian.data(), native, sizes.native);
  return fits;
}

/// Converts bools to 0 or 1: other values are not valid in C.
void booleans_from_external32(std::int64_t values, const ValueSizes& sizes, const std::byte* stored,
                              std::byte* native) {
  const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
  for (std::int64_t i = 0; i < values; ++i) {
    const std::byte* const value = stored + i * sizes.stored;
    std::array<std::byte, kLargestValue> big_endian{};
    big_endian[static_cast<std::size_t>(sizes.native - 1)] =
        std::byte{std::any_of(value, value + sizes.stored, is_set)};
    copy_value(big_endian.data(), native + i * sizes.native, sizes.native);
  }
}

template <class Visit>
ByteCount for_each_piece(const std::byte* base, Cursor& memory, ByteCount bytes, Visit visit) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  ByteCount done = 0;
  while (done < bytes) {
    const StridedRun run = memory.next(bytes - done);
    if (run.count == 0) break;
    for (std::int64_t i = 0; i < run.count; ++i) {
      const auto place = static_cast<std::uintptr_t>(run.offset + i * run.stride);
      visit(reinterpret_cast<std::byte*>(address + place), done,
            static_cast<std::size_t>(run.length));
      done += run.length;
    }
  }
  return done;
}

void gather(const std::byte* base, Cursor& memory, ByteCount bytes, std::byte* packed) {
  for_each_piece(base, memory, bytes, [&](std::byte* place, ByteCount done, std::size_t length) {
    std::memcpy(packed + done, place, length);
  });
}

void scatter(const std::byte* base, Cursor& memory, ByteCount bytes, const std::byte* packed) {
  for_each_piece(base, memory, bytes, [&](std::byte* place, ByteCount done, std::size_t length) {
    std::memcpy(place, packed + done, length);
  });
}

/// How many native bytes are converted at a time; more than any element has.
constexpr ByteCount kChunk = 16384;

/// Visits the runs of elements that fill a chunk, or `bytes` bytes of one.
template <class Visit>
Amount for_each_run(ElementCursor& elements, ByteCount bytes, Visit visit) {
  Amount done;
  for (;;) {
    const ElementCursor::Run run = elements.next(bytes - done.native);
    if (run.count == 0) return done;
    visit(run, done);
    const Element& element = run.element;
    done = done + Amount{element.items, element.native_size, element.stored_size} * run.count;
    if (done.native == bytes) return done;
  }
}

}  // namespace

bool to_external32(const Element& element, std::int64_t count, const std::byte* native,
                   std::byte* stored) {
  const ValueSizes sizes = sizes_of(element);
  const std::int64_t values = count * element.values;
  bool fits = true;
  if (element.kind == Kind::bytes) {
    std::memcpy(stored, native, static_cast<std::size_t>(element.native_size * count));
  } else if (only_order_differs(element)) {
    swap_values(sizes.native, values, native, stored);
  } else {
    for (std::int64_t i = 0; i < values; ++i) {
      fits &= value_to_external32(element.kind, native + i * sizes.native,
                                  stored + i * sizes.stored, sizes);
    }
  }
  return fits;
}

bool from_external32(const Element& element, std::int64_t count, const std::byte* stored,
                     std::byte* native) {
  const ValueSizes sizes = sizes_of(element);
  const std::int64_t values = count * element.values;
  bool fits = true;
  if (element.kind == Kind::bytes) {
    std::memcpy(native, stored, static_cast<std::size_t>(element.stored_size * count));
  } else if (element.kind == Kind::boolean) {
    booleans_from_external32(values, sizes, stored, native);
  } else if (only_order_differs(element)) {
    swap_values(sizes.native, values, stored, native);
  } else {
    for (std::int64_t i = 0; i < values; ++i) {
      fits &= value_from_external32(element.kind, stored + i * sizes.stored,
                                    native + i * sizes.native, sizes);
    }
  }
  return fits;
}

bool pack_external32(const TypedMemory& memory, const Amount& begin, const Amount& end,
                     std::byte* stored) {
  ByteCount left = end.native - begin.native;
  if (left == 0) return true;
  bool fits = true;
  Cursor cursor(memory.type, 0, end.native);
  cursor.seek(begin.native);
  ElementCursor elements(memory.elements, begin.items);
  std::array<std::byte, kChunk> native;
  ByteCount rest = 0;  // bytes of an element that was cut, at the beginning of `native`
  while (left > 0) {
    const ByteCount bytes = std::min(left, kChunk - rest);
    gather(memory.base, cursor, bytes, native.data() + rest);
    left -= bytes;
    const Amount done = for_each_run(
        elements, rest + bytes, [&](const ElementCursor::Run& run, const Amount& before) {
          fits &= to_external32(run.element, run.count, native.data() + before.native,
                                stored + before.stored);
        });
    stored += done.stored;
    rest = rest + bytes - done.native;
    std::memmove(native.data(), native.data() + done.native, static_cast<std::size_t>(rest));
  }
  return fits;
}

bool unpack_external32(const TypedMemory& memory, const Amount& begin, const Amount& end,
                       const std::byte* stored) {
  const ByteCount all = end.native - begin.native;
  if (all == 0) return true;
  bool fits = true;
  Cursor cursor(memory.type, 0, end.native);
  cursor.seek(begin.native);
  ElementCursor elements(memory.elements, begin.items);
  std::array<std::byte, kChunk> native;
  for (ByteCount left = all; left > 0;) {
    const Amount done = for_each_run(
        elements, std::min(left, kChunk), [&](const ElementCursor::Run& run, const Amount& before) {
          fits &= from_external32(run.element, run.count, stored + before.stored,
                                  native.data() + before.native);
        });
    scatter(memory.base, cursor, done.native, native.data());
    stored += done.stored;
    left -= done.native;
  }
  return fits;
}

bool always_fits_external32(const Elements& elements) {
  return std::ranges::all_of(elements.parts(), [](const Elements::Part& part) {
    if (part.child) return always_fits_external32(*part.child);
    const ValueSizes sizes = sizes_of(part.element);
    const bool is_integer =
        part.element.kind == Kind::signed_integer || part.element.kind == Kind::unsigned_integer;
    return !is_integer || sizes.stored >= sizes.native;
  });
}

}  // namespace headrace::view
