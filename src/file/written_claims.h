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
  ByteCount position = 0;  ///< position of the first byte in the call's data
  int system_error = 0;    ///< why they cannot be read; 0: they can
  bool is_contested = false;
};

/// What one rank claims to have written, told a part at a time to the rank that reads it back. A
/// part that differs is told again in small parts, for which the reader returns the bytes
/// themselves.
class WrittenClaims {
 public:
  /// Claims the first `written` bytes of `access`, whose cursors it moves.
  WrittenClaims(Access& access, ByteCount written) : access_(access), left_(written) {}

  bool has_more() const { return left_ > 0; }
  /// The next part; empty if there is none. Without memory, there is no further part.
  fabric::Ring::Message next() noexcept;
  /// Takes what the reader found about the last part.
  void take_comparison(const fabric::Ring::Message& comparison) noexcept;
  bool lacked_memory() const { return lacked_memory_; }

  /// In the order of the data. If there are very many, the last one stands for all that follow.
  std::vector<Suspect>& suspects() { return suspects_; }

 private:
  static constexpr std::size_t kMaxSuspects = 256;

  fabric::Ring::Message make_next();
  void take(const fabric::Ring::Message& comparison);
  void give_up();
  bool add_pieces(const view::StridedRun& run, SipHash& hash);
  void find_differences(const fabric::Ring::Message& comparison);
  void suspect(ByteCount begin, ByteCount end, int system_error);

  Access& access_;  ///< its cursors stand at the next part
  ByteCount left_;
  ByteCount described_ = 0;  ///< data position of the next part

  // The last part.
  std::optional<Access> before_;
  std::vector<plan::FileRange> pieces_;
  ByteCount bytes_ = 0;
  bool wants_bytes_ = false;
  std::vector<std::byte> data_;

  ByteCount inspect_until_ = 0;  ///< data below this position is told in small parts
  std::vector<Suspect> suspects_;
  bool lacked_memory_ = false;
};

/// Reads back what another rank claims to have written.
class ReadBack {
 public:
  /// `system_error`: why the file cannot be read at all; 0: it can.
  ReadBack(storage::Store& store, int system_error) : store_(store), system_error_(system_error) {}

  /// Compares a claim with the file. Without memory, the bytes count as unreadable.
  fabric::Ring::Message judge(const fabric::Ring::Message& claim) noexcept;
  ByteCount bytes_read() const { return bytes_read_; }

 private:
  fabric::Ring::Message compare(const fabric::Ring::Message& claim);
  /// Reads `pieces`, in their order, to data_; fewer bytes if the file ends or cannot be read.
  storage::Transferred read(std::span<const plan::FileRange> pieces);
  storage::Transferred read_group(std::span<const plan::FileRange> group);

  storage::Store& store_;
  int system_error_;
  std::vector<std::byte> data_;
  std::vector<std::byte> stretch_;
  ByteCount bytes_read_ = 0;
};

}  // namespace headrace::file
