#include "file/written_claims.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "view/copy.h"

namespace headrace::file {
namespace {

using fabric::Ring;
using plan::FileRange;

/// The most data of a part, in bytes.
constexpr ByteCount kMaxData = 1 << 20;
constexpr auto kMaxPieces = static_cast<std::int64_t>(Ring::kMaxBody / sizeof(FileRange));

/// Indices into the head of a claim, and of a comparison.
enum Claim : std::size_t { kBytes, kCodeLow, kCodeHigh, kWantsBytes };
enum Comparison : std::size_t { kDiffers, kSystemError, kPresent };

std::int64_t as_signed(std::uint64_t word) {
  return static_cast<std::int64_t>(word);
}

/// Whether the pieces of a message have `bytes` bytes, and no more than a part may have.
bool are_valid(std::span<const FileRange> pieces, ByteCount bytes) {
  if (bytes > kMaxData) return false;
  for (const FileRange& piece : pieces) {
    if (piece.begin < 0 || piece.begin >= piece.end || piece.end - piece.begin > bytes) {
      return false;
    }
    bytes -= piece.end - piece.begin;
  }
  return bytes == 0;
}

}  // namespace

/// False if a device's driver cannot copy the data.
bool WrittenClaims::add_pieces(const view::StridedRun& run, SipHash& hash) {
  for (std::int64_t i = 0; i < run.count; ++i) {
    const FileOffset begin = run.offset + i * run.stride;
    if (!pieces_.empty() && pieces_.back().end == begin) {
      pieces_.back().end += run.length;
    } else {
      pieces_.push_back({begin, begin + run.length});
    }
  }
  const auto add = [&](std::span<const std::byte> bytes) {
    hash.add(bytes);
    if (wants_bytes_) data_.insert(data_.end(), bytes.begin(), bytes.end());
  };
  if (access_.staging != nullptr) {
    for (ByteCount left = run.bytes(); left > 0;) {
      const auto bytes = access_.staging->open(access_.memory.position(), left);
      if (bytes.empty()) return false;
      add(bytes);
      left -= std::ssize(bytes);
      access_.memory.next(std::ssize(bytes));
    }
    return true;
  }
  view::PairReader reader(run, access_.memory);
  while (reader.next()) {
    const view::PiecePairs& pairs = reader.pairs();
    for (std::int64_t i = 0; i < pairs.count; ++i) {
      add({view::memory_at(access_.buffer, pairs.memory_offset + i * pairs.memory_stride),
           static_cast<std::size_t>(pairs.length)});
    }
  }
  return true;
}

Ring::Message WrittenClaims::next() noexcept {
  try {
    return make_next();
  } catch (const std::bad_alloc&) {
    give_up();
    return {};
  }
}

void WrittenClaims::take_comparison(const Ring::Message& comparison) noexcept {
  try {
    take(comparison);
  } catch (const std::bad_alloc&) {
    give_up();
  }
}

void WrittenClaims::give_up() {
  lacked_memory_ = true;
  left_ = 0;
  bytes_ = 0;
}

Ring::Message WrittenClaims::make_next() {
  before_ = access_;
  pieces_.clear();
  data_.clear();
  bytes_ = 0;
  wants_bytes_ = described_ < inspect_until_;
  const ByteCount most = std::min(
      left_,
      wants_bytes_ ? std::min<ByteCount>(Ring::kMaxBody, inspect_until_ - described_) : kMaxData);
  SipHash hash;
  while (bytes_ < most && std::ssize(pieces_) < kMaxPieces) {
    const std::int64_t room = kMaxPieces - std::ssize(pieces_);
    view::Cursor ahead = access_.file;
    view::StridedRun run = ahead.next(most - bytes_);
    if (run.count > room) {
      ahead = access_.file;
      run = ahead.next(room * run.length);
    }
    access_.file = ahead;
    if (!add_pieces(run, hash)) {
      give_up();
      return {};
    }
    bytes_ += run.bytes();
  }
  described_ += bytes_;
  left_ -= bytes_;
  Ring::Message claim;
  const SipHash::Code code = hash.end();
  claim.head = {bytes_, as_signed(code[0]), as_signed(code[1]), wants_bytes_ ? 1 : 0};
  claim.body.resize(pieces_.size() * sizeof(FileRange));
  if (bytes_ > 0) std::memcpy(claim.body.data(), pieces_.data(), claim.body.size());
  return claim;
}

void WrittenClaims::take(const Ring::Message& comparison) {
  if (bytes_ == 0 || comparison.head[kDiffers] == 0) return;
  const auto system_error = static_cast<int>(comparison.head[kSystemError]);
  if (!wants_bytes_) {
    // Tell this part again, in small parts.
    inspect_until_ = described_;
    described_ -= bytes_;
    left_ += bytes_;
    access_ = *before_;
  } else if (system_error != 0) {
    suspect(0, bytes_, system_error);
  } else {
    find_differences(comparison);
  }
}

void WrittenClaims::find_differences(const Ring::Message& comparison) {
  const ByteCount present =
      std::min({comparison.head[kPresent], std::ssize(comparison.body), std::ssize(data_)});
  const auto differs = [&](ByteCount i) {
    const auto at = static_cast<std::size_t>(i);
    return i >= present || comparison.body[at] != data_[at];
  };
  for (ByteCount begin = 0; begin < bytes_;) {
    if (!differs(begin)) {
      ++begin;
      continue;
    }
    ByteCount end = begin + 1;
    while (end < bytes_ && differs(end)) ++end;
    suspect(begin, end, 0);
    begin = end;
  }
}

/// `begin` and `end` are positions in the data of the last part.
void WrittenClaims::suspect(ByteCount begin, ByteCount end, int system_error) {
  ByteCount start = 0;
  for (const FileRange& piece : pieces_) {
    const ByteCount len = piece.end - piece.begin;
    const ByteCount from = std::max(begin, start);
    const ByteCount to = std::min(end, start + len);
    if (from < to) {
      const FileRange range{piece.begin + (from - start), piece.begin + (to - start)};
      Suspect* const last = suspects_.empty() ? nullptr : &suspects_.back();
      const bool joins = last != nullptr && last->system_error == system_error &&
                         (last->range.end == range.begin || suspects_.size() == kMaxSuspects);
      if (joins) {
        last->range = {std::min(last->range.begin, range.begin),
                       std::max(last->range.end, range.end)};
      } else {
        suspects_.push_back({range, described_ - bytes_ + from, system_error});
      }
    }
    start += len;
  }
}

Ring::Message ReadBack::judge(const Ring::Message& claim) noexcept {
  try {
    return compare(claim);
  } catch (const std::bad_alloc&) {
    Ring::Message comparison;
    comparison.head = {1, ENOMEM, 0};
    return comparison;
  }
}

Ring::Message ReadBack::compare(const Ring::Message& claim) {
  Ring::Message comparison;
  if (claim.head[kBytes] == 0) return comparison;
  std::vector<FileRange> pieces(claim.body.size() / sizeof(FileRange));
  if (!pieces.empty()) {
    std::memcpy(pieces.data(), claim.body.data(), pieces.size() * sizeof(FileRange));
  }
  if (!are_valid(pieces, claim.head[kBytes])) {
    comparison.head = {1, EBADMSG, 0};
    return comparison;
  }
  if (system_error_ != 0) {
    comparison.head = {1, system_error_, 0};
    return comparison;
  }
  const storage::Transferred got = read(pieces);
  bytes_read_ += got.bytes;
  SipHash hash;
  hash.add(data_);
  const SipHash::Code code = hash.end();
  const bool is_same = got.bytes == claim.head[kBytes] &&
                       as_signed(code[0]) == claim.head[kCodeLow] &&
                       as_signed(code[1]) == claim.head[kCodeHigh];
  comparison.head = {is_same ? 0 : 1, got.system_error, got.bytes};
  if (!is_same && claim.head[kWantsBytes] != 0) comparison.body = data_;
  return comparison;
}

/// Reads pieces that lie close together by one call, with the gaps between them.
storage::Transferred ReadBack::read(std::span<const FileRange> pieces) {
  data_.clear();
  storage::Transferred all;
  for (std::size_t begin = 0; begin < pieces.size();) {
    ByteCount bytes = pieces[begin].end - pieces[begin].begin;
    std::size_t end = begin + 1;
    for (; end < pieces.size() && pieces[end].begin >= pieces[end - 1].end; ++end) {
      const ByteCount stretch = pieces[end].end - pieces[begin].begin;
      const ByteCount more = bytes + pieces[end].end - pieces[end].begin;
      if (stretch > kMaxData || stretch > 4 * more) break;
      bytes = more;
    }
    const std::span<const FileRange> group = pieces.subspan(begin, end - begin);
    const storage::Transferred got = read_group(group);
    all.bytes += got.bytes;
    all.system_error = got.system_error;
    if (got.bytes < bytes) return all;
    begin = end;
  }
  return all;
}

storage::Transferred ReadBack::read_group(std::span<const FileRange> group) {
  const FileOffset begin = group.front().begin;
  stretch_.resize(static_cast<std::size_t>(group.back().end - begin));
  const iovec segment{stretch_.data(), stretch_.size()};
  const storage::Transferred got = store_.read(begin, {&segment, 1});
  if (got.system_error != 0 && group.size() > 1) {
    // Perhaps only other ranks' bytes cannot be read.
    storage::Transferred all;
    for (std::size_t i = 0; i < group.size() && all.system_error == 0; ++i) {
      const storage::Transferred one = read_group(group.subspan(i, 1));
      all = {all.bytes + one.bytes, one.system_error};
      if (one.bytes < group[i].end - group[i].begin) break;
    }
    return all;
  }
  storage::Transferred done{0, got.system_error};
  for (const FileRange& piece : group) {
    const ByteCount len =
        std::clamp<ByteCount>(begin + got.bytes - piece.begin, 0, piece.end - piece.begin);
    const std::byte* const place = stretch_.data() + (piece.begin - begin);
    data_.insert(data_.end(), place, place + len);
    done.bytes += len;
  }
  return done;
}

}  // namespace headrace::file
