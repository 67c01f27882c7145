#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "storage/lustre.h"

namespace headrace::storage {
namespace {

constexpr std::uint32_t kPlain1 = 0x0bd10bd0;
constexpr std::uint32_t kPlain3 = 0x0bd30bd0;
constexpr std::uint64_t kEndOfFile = ~std::uint64_t{0};

/// Bytes of a structure, put together field by field.
class Blob {
 public:
  template <class Number>
  Blob& add(Number number) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(Number));
    std::memcpy(bytes_.data() + at, &number, sizeof(Number));
    return *this;
  }
  Blob& add(const Blob& other) {
    for (const std::byte byte : other.bytes_) bytes_.push_back(byte);
    return *this;
  }
  Blob& fill(std::size_t bytes) {
    bytes_.resize(bytes_.size() + bytes);
    return *this;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }
  std::optional<Stripes> parsed() const { return parse_lustre_layout(bytes_); }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Blob plain(std::uint32_t magic, std::uint32_t pattern, std::uint32_t size, std::uint16_t count) {
  Blob blob;
  blob.add(magic).add(pattern).fill(16).add(size).add(count).add(std::uint16_t{0});
  if (magic == kPlain3) blob.fill(16);                    // the pool's name
  blob.fill(24 * static_cast<std::size_t>(count % 100));  // the objects
  return blob;
}

struct Component {
  std::uint32_t flags;
  std::uint64_t begin;
  std::uint64_t end;
  Blob layout;
};

Blob composite(const std::vector<Component>& components, std::uint32_t magic = 0x0bd60bd0) {
  Blob blob;
  std::uint32_t offset = 32 + 48 * static_cast<std::uint32_t>(components.size());
  blob.add(magic).add(std::uint32_t{0}).add(std::uint32_t{1}).add(std::uint16_t{0});
  blob.add(static_cast<std::uint16_t>(components.size())).fill(16);
  for (const Component& component : components) {
    blob.add(std::uint32_t{1}).add(component.flags).add(component.begin).add(component.end);
    blob.add(offset).add(component.layout.size()).fill(16);
    offset += component.layout.size();
  }
  for (const Component& component : components) blob.add(component.layout);
  return blob;
}

TEST(LustreLayout, IsReadInAllItsForms) {
  EXPECT_EQ(plain(kPlain1, 1, 1 << 20, 4).parsed(), (Stripes{1 << 20, 4}));
  EXPECT_EQ(plain(kPlain3, 1, 4 << 20, 16).parsed(), (Stripes{4 << 20, 16}));
  EXPECT_EQ(plain(kPlain3, 1 | 0x200, 1 << 20, 32).parsed(), (Stripes{1 << 20, 32}))
      << "several objects on a device";
  EXPECT_EQ(plain(kPlain1, 0x80000001, 1 << 20, 4).parsed(), (Stripes{1 << 20, 4}))
      << "released to an archive";
  EXPECT_EQ(plain(kPlain1, 1, 1 << 20, 0xffff).parsed(), (Stripes{1 << 20, 0}))
      << "on all devices, however many";
}

TEST(LustreLayout, OfACompositeIsThatOfTheFarthestComponent) {
  const Component metadata{0x10, 0, 1 << 16, plain(kPlain1, 0x100, 1 << 16, 0)};
  const Component first{0x10, 1 << 16, 1 << 26, plain(kPlain1, 1, 1 << 20, 1)};
  const Component last{0x00, 1 << 26, kEndOfFile, plain(kPlain3, 1, 4 << 20, 8)};
  EXPECT_EQ(composite({metadata, first, last}).parsed(), (Stripes{4 << 20, 8}));
  EXPECT_EQ(composite({last, first}).parsed(), (Stripes{4 << 20, 8}));
  EXPECT_EQ(composite({metadata}).parsed(), std::nullopt);
  EXPECT_EQ(composite({}).parsed(), std::nullopt);

  Component stale = last;
  stale.flags = 0x11;
  EXPECT_EQ(composite({first, stale}).parsed(), (Stripes{1 << 20, 1}));
  Component extension = last;
  extension.flags = 0x40;
  EXPECT_EQ(composite({first, extension}, 0x0bd80bd0).parsed(), (Stripes{1 << 20, 1}));
}

TEST(LustreLayout, ThatMakesNoSenseIsNotKnown) {
  EXPECT_EQ(Blob().parsed(), std::nullopt);
  EXPECT_EQ(plain(0x0bd70bd0, 1, 1 << 20, 4).parsed(), std::nullopt) << "foreign";
  EXPECT_EQ(plain(kPlain1, 2, 1 << 20, 4).parsed(), std::nullopt);
  EXPECT_EQ(plain(kPlain1, 1, 0, 4).parsed(), std::nullopt);
  Blob outside = composite({{0, 0, kEndOfFile, plain(kPlain1, 1, 1 << 20, 4)}});
  std::memset(outside.bytes().data() + 32 + 24, 0xff, 8);  // the component's place and size
  EXPECT_EQ(outside.parsed(), std::nullopt);
}

/// Whatever the bytes, the parser reads none outside them (the sanitizers look) and what it finds
/// is what a layout may have.
TEST(LustreLayout, IsReadFromAnyBytes) {
  std::mt19937_64 random(3);
  const Blob whole = composite({{0x10, 0, 1 << 26, plain(kPlain1, 1, 1 << 20, 1)},
                                {0x00, 1 << 26, kEndOfFile, plain(kPlain3, 1, 4 << 20, 8)}});
  for (int turn = 0; turn < 20'000; ++turn) {
    Blob blob = whole;
    for (std::uint64_t changes = random() % 8; changes > 0; --changes) {
      blob.bytes()[random() % blob.size()] = static_cast<std::byte>(random());
    }
    // Of exactly this size in memory.
    const std::vector<std::byte> bytes(blob.bytes().begin(),
                                       blob.bytes().begin() + random() % (blob.size() + 1));
    const auto found = parse_lustre_layout(bytes);
    ASSERT_TRUE(!found || (found->size > 0 && found->count >= 0 && found->count <= 2000));
  }
}

TEST(LustreRequest, SaysWhatIsWished) {
  const auto number = [](const LustreRequest& request, std::size_t offset, std::size_t size) {
    std::uint32_t value = 0;
    std::memcpy(&value, request.data() + offset, size);
    return value;
  };
  const LustreRequest request = make_lustre_request({.stripes = {1 << 20, 4}, .start_device = 7});
  EXPECT_EQ(number(request, 0, 4), kPlain1);
  EXPECT_EQ(number(request, 4, 4), 0U);
  EXPECT_EQ(number(request, 24, 4), 1U << 20);
  EXPECT_EQ(number(request, 28, 2), 4U);
  EXPECT_EQ(number(request, 30, 2), 7U);

  const LustreRequest more = make_lustre_request({.stripes = {0, 4}, .overstriping_count = 9});
  EXPECT_EQ(number(more, 4, 4), 0x201U);
  EXPECT_EQ(number(more, 24, 4), 0U) << "the file system's own";
  EXPECT_EQ(number(more, 28, 2), 9U);
  EXPECT_EQ(number(more, 30, 2), 0xffffU) << "any device";
}

}  // namespace
}  // namespace headrace::storage
