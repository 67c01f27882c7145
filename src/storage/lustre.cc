#include "storage/lustre.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace headrace::storage {
namespace {

constexpr std::uint32_t kPlain1 = 0x0bd10bd0;
constexpr std::uint32_t kPlain3 = 0x0bd30bd0;
constexpr std::uint32_t kComposite = 0x0bd60bd0;
constexpr std::uint32_t kExtendable = 0x0bd80bd0;  ///< composite, with components that grow

constexpr std::uint32_t kStriped = 0x001;
constexpr std::uint32_t kOverstriped = 0x200;
constexpr std::uint32_t kPatternFlags = 0xffff0000;

/// A component that is out of date, or only reserves what others may grow into.
constexpr std::uint32_t kStale = 0x01;
constexpr std::uint32_t kExtension = 0x40;

constexpr std::uint16_t kMaxObjects = 2000;
constexpr std::uint16_t kAnyDevice = 0xffff;

// Offsets of the fields that are used, and sizes, in bytes: Lustre's lustre_user.h.
constexpr std::size_t kMagicAt = 0;  ///< of plain and composite layouts

/// lov_user_md_v1 and _v3: the layout of a file, or of one component.
struct Plain {
  static constexpr std::size_t kPatternAt = 4;
  static constexpr std::size_t kStripeSizeAt = 24;
  static constexpr std::size_t kStripeCountAt = 28;
  static constexpr std::size_t kFirstDeviceAt = 30;  ///< in a request; else a generation
  static constexpr std::size_t kSize = 32;
};
/// lov_comp_md_v1: what stands before the entries of a composite layout.
struct Composite {
  static constexpr std::size_t kEntryCountAt = 14;
  static constexpr std::size_t kSize = 32;
};
/// lov_comp_md_entry_v1: where in the file a component counts, and where its layout lies.
struct Entry {
  static constexpr std::size_t kFlagsAt = 4;
  static constexpr std::size_t kFileEndAt = 16;
  static constexpr std::size_t kLayoutAt = 24;
  static constexpr std::size_t kLayoutSizeAt = 28;
  static constexpr std::size_t kSize = 48;
};

using Bytes = std::span<const std::byte>;

/// The number at `offset`, in this host's byte order; 0 if it does not lie within `bytes`.
template <class Number>
Number number_at(Bytes bytes, std::size_t offset) {
  Number number = 0;
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(Number)) {
    std::memcpy(&number, bytes.data() + offset, sizeof(Number));
  }
  return number;
}

std::optional<Stripes> parse_plain(Bytes layout) {
  if (layout.size() < Plain::kSize) return std::nullopt;
  const auto magic = number_at<std::uint32_t>(layout, kMagicAt);
  const auto pattern = number_at<std::uint32_t>(layout, Plain::kPatternAt) & ~kPatternFlags;
  if (magic != kPlain1 && magic != kPlain3) return std::nullopt;
  // Other patterns, such as data on the metadata server, have no stripes.
  if (pattern != kStriped && pattern != (kStriped | kOverstriped)) return std::nullopt;
  const auto size = number_at<std::uint32_t>(layout, Plain::kStripeSizeAt);
  const auto count = number_at<std::uint16_t>(layout, Plain::kStripeCountAt);
  if (size == 0) return std::nullopt;
  // No count, or "all": the objects do not exist yet.
  return Stripes{size, count <= kMaxObjects ? count : 0};
}

std::optional<Stripes> parse_composite(Bytes layout) {
  std::optional<Stripes> found;
  std::uint64_t reached = 0;
  const auto entries = number_at<std::uint16_t>(layout, Composite::kEntryCountAt);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = Composite::kSize + i * Entry::kSize;
    if (at + Entry::kSize > layout.size()) break;
    const Bytes entry = layout.subspan(at, Entry::kSize);
    const auto end = number_at<std::uint64_t>(entry, Entry::kFileEndAt);
    if ((number_at<std::uint32_t>(entry, Entry::kFlagsAt) & (kStale | kExtension)) != 0 ||
        end <= reached) {
      continue;
    }
    const std::size_t offset = number_at<std::uint32_t>(entry, Entry::kLayoutAt);
    const std::size_t size = number_at<std::uint32_t>(entry, Entry::kLayoutSizeAt);
    if (offset > layout.size() || size > layout.size() - offset) continue;
    if (const auto stripes = parse_plain(layout.subspan(offset, size))) {
      found = stripes;
      reached = end;
    }
  }
  return found;
}

template <class Number>
void put(std::span<std::byte> bytes, std::size_t offset, Number number) {
  std::memcpy(bytes.data() + offset, &number, sizeof(Number));
}

constexpr unsigned long kGetStripe = _IOW('f', 155, long);
constexpr unsigned long kSetStripe = _IOW('f', 154, long);

/// One advice of Lustre's ladvise, with the header before it.
struct Advice {
  std::uint16_t advice;
  std::uint16_t mode;
  std::uint32_t flags;
  std::uint64_t begin;
  std::uint64_t last;  ///< the last byte
  std::uint32_t result;
  std::uint32_t unused;
};
struct AdviceCall {
  std::uint32_t magic;
  std::uint32_t count;
  std::uint64_t flags;
  std::uint32_t unused[4];
  Advice advice;
};
static_assert(sizeof(Advice) == 32 && sizeof(AdviceCall) == 64, "as Lustre has them");

constexpr unsigned long kAdvise = _IOR('f', 250, Advice);

}  // namespace

const int kLustreDelayedCreate = 0100000000 | O_NOCTTY | FASYNC;

std::optional<Stripes> parse_lustre_layout(std::span<const std::byte> layout) {
  const auto magic = number_at<std::uint32_t>(layout, kMagicAt);
  if (magic == kComposite || magic == kExtendable) return parse_composite(layout);
  return parse_plain(layout);
}

std::optional<Stripes> lustre_stripes(int descriptor) {
  std::vector<std::byte> layout(kLargestLustreLayout);
  const ssize_t size = fgetxattr(descriptor, "lustre.lov", layout.data(), layout.size());
  if (size > 0) return parse_lustre_layout({layout.data(), static_cast<std::size_t>(size)});
  // Old clients have only the ioctl, which must be told for how many objects there is room.
  put(std::span(layout), kMagicAt, kPlain3);
  put(std::span(layout), Plain::kStripeCountAt, kMaxObjects);
  if (ioctl(descriptor, kGetStripe, layout.data()) < 0) return std::nullopt;
  return parse_lustre_layout(layout);
}

LustreRequest make_lustre_request(const StripingHints& hint) {
  LustreRequest request{};
  const std::int64_t count =
      hint.overstriping_count > 0 ? hint.overstriping_count : hint.stripes.count;
  put(std::span(request), kMagicAt, kPlain1);
  put(std::span(request), Plain::kPatternAt,
      hint.overstriping_count > 0 ? kStriped | kOverstriped : 0U);
  put(std::span(request), Plain::kStripeSizeAt,
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(
          hint.stripes.size, 0, std::numeric_limits<std::uint32_t>::max())));
  put(std::span(request), Plain::kStripeCountAt,
      static_cast<std::uint16_t>(std::clamp<std::int64_t>(count, 0, kMaxObjects)));
  const bool has_device = hint.start_device >= 0 && hint.start_device < kAnyDevice;
  put(std::span(request), Plain::kFirstDeviceAt,
      has_device ? static_cast<std::uint16_t>(hint.start_device) : kAnyDevice);
  return request;
}

int set_lustre_stripes(int descriptor, const StripingHints& hint) {
  LustreRequest request = make_lustre_request(hint);
  return ioctl(descriptor, kSetStripe, request.data()) < 0 ? errno : 0;
}

int ask_lustre_lock(int descriptor, FileOffset begin, FileOffset end) {
  assert(0 <= begin && begin < end);
  constexpr std::uint32_t kMagic = 0x1adf1ce0;
  constexpr std::uint16_t kLockAhead = 4;
  constexpr std::uint16_t kToWrite = 2;
  constexpr std::uint32_t kWithoutWaiting = 1;
  AdviceCall call{};
  call.magic = kMagic;
  call.count = 1;
  call.advice = {kLockAhead,
                 kToWrite,
                 kWithoutWaiting,
                 static_cast<std::uint64_t>(begin),
                 static_cast<std::uint64_t>(end - 1),
                 0,
                 0};
  return ioctl(descriptor, kAdvise, &call) < 0 ? errno : 0;
}

}  // namespace headrace::storage
