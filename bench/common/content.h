#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/layout.h"
#include "common/world.h"

namespace headrace::bench {

/// What a file must hold, as a function of the place in it alone: whoever wrote it, and in whatever
/// way, anyone can check it.
class Content {
 public:
  virtual ~Content() = default;
  /// Makes the bytes from file offset `offset` on.
  virtual void fill(std::int64_t offset, std::span<std::byte> to) const = 0;
  /// Where a byte is in the benchmark's own terms, for messages; empty where it has none.
  virtual std::string place(std::int64_t) const { return {}; }
};

/// fill_by_offset() with a salt made from `seed`.
class OffsetContent final : public Content {
 public:
  explicit OffsetContent(std::int64_t seed);
  void fill(std::int64_t offset, std::span<std::byte> to) const override;

 private:
  std::uint64_t salt_;
};

/// Bytes that are not as they must be.
struct Mismatch {
  std::int64_t wrong = 0;
  std::int64_t first = INT64_MAX;  ///< file offset of the first of them

  void add(std::int64_t offset);
  void add(const Mismatch& other);
  /// Where `data` differs from `expected`; both stand at file offset `offset`.
  void compare(std::int64_t offset, std::span<const std::byte> data,
               std::span<const std::byte> expected);
};

/// The sum, and the first, over all ranks. Collective.
Mismatch sum(const World& world, const Mismatch& mine);

/// Fills the parts of a rank's buffer that its layout moves, for a call at `displacement`.
void fill(const Layout& layout, std::int64_t displacement, const Content& content,
          std::byte* memory);

/// Makes all of a buffer something that no read leaves behind.
void poison(std::span<std::byte> memory);

/// Compares a rank's buffer, poisoned before it was read into, with what the file must hold. Bytes
/// outside the layout that lost their poison count as wrong too, at the file offset before which
/// they were found. The buffer is poisoned again afterwards.
Mismatch check(const Layout& layout, std::int64_t displacement, const Content& content,
               std::span<std::byte> memory);

}  // namespace headrace::bench
