#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/siphash.h"
#include "fabric/ring.h"
#include "file/direct_transfer.h"
#include "plan/windows.h"

namespace headrace::file {

/// Bytes of the file that are not what this rank wrote, or cannot be read.
struct Suspect {
  plan::FileRange range;
  ByteCount position = 0;  ///< of the first one, in the data of the call
  int system_error = 0;    ///< why they cannot be read; 0: they can
  bool is_contested = false;
};

/// What one rank says of the bytes that it wrote, a part at a time, to the rank that reads them
/// back. A part that is found to differ is told again in small parts, of which the reader gives the
/// bytes themselves.
class WrittenClaims {
 public:
  /// The first `written` bytes of `access`, whose cursors it moves.
  WrittenClaims(Access& access, ByteCount written) : access_(access), left_(written) {}

  bool has_more() const { return left_ > 0; }
  /// The next part; empty where there is none. Without memory nothing more is told.
  fabric::Ring::Message next() noexcept;
  /// What the reader found of it.
  void take_comparison(const fabric::Ring::Message& comparison) noexcept;
  bool lacked_memory() const { return lacked_memory_; }

  /// In the order of the data; where they are very many, the last one stands for all that follow.
  std::vector<Suspect>& suspects() { return suspects_; }

 private:
  static constexpr std::size_t kMaxSuspects = 256;

  fabric::Ring::Message make_next();
  void take(const fabric::Ring::Message& comparison);
  void give_up();
  bool add_pieces(const view::StridedRun& run, SipHash& hash);
  void find_differences(const fabric::Ring::Message& comparison);
  void suspect(ByteCount begin, ByteCount end, int system_error);

  Access& access_;  ///< at the part to tell next
  ByteCount left_;
  ByteCount described_ = 0;  ///< data before that

  // The part told last.
  std::optional<Access> before_;
  std::vector<plan::FileRange> pieces_;
  ByteCount bytes_ = 0;
  bool wants_bytes_ = false;
  std::vector<std::byte> data_;

  ByteCount inspect_until_ = 0;  ///< data below is told in small parts
  std::vector<Suspect> suspects_;
  bool lacked_memory_ = false;
};

/// Reads back what another rank says it wrote.
class ReadBack {
 public:
  explicit ReadBack(storage::Store& store) : store_(store) {}

  /// Without memory the bytes count as bytes that cannot be read.
  fabric::Ring::Message judge(const fabric::Ring::Message& claim) noexcept;
  ByteCount bytes_read() const { return bytes_read_; }

 private:
  fabric::Ring::Message compare(const fabric::Ring::Message& claim);
  /// Bytes in the order of `pieces`, into data_; fewer where the file ends or cannot be read.
  storage::Transferred read(std::span<const plan::FileRange> pieces);
  storage::Transferred read_group(std::span<const plan::FileRange> group);

  storage::Store& store_;
  std::vector<std::byte> data_;
  std::vector<std::byte> stretch_;
  ByteCount bytes_read_ = 0;
};

}  // namespace headrace::file
