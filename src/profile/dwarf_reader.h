#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headrace::profile {

/// Reads numbers as unwind tables have them, one after the other. Behind the end, or where what is
/// there cannot be, it has failed: then it gives zeros.
class DwarfReader {
 public:
  DwarfReader(const std::byte* begin, const std::byte* end) noexcept : at_(begin), end_(end) {}

  bool has_failed() const noexcept { return has_failed_; }
  bool is_at_end() const noexcept { return at_ >= end_; }
  const std::byte* at() const noexcept { return at_; }
  const std::byte* end() const noexcept { return end_; }

  template <class Number>
  Number number() noexcept {
    Number value{};
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t unsigned_leb() noexcept;
  std::int64_t signed_leb() noexcept;
  /// The text that begins here, which a zero ends; null if none does.
  const char* text() noexcept;
  void skip(std::uint64_t bytes) noexcept;
  void fail() noexcept {
    has_failed_ = true;
    at_ = end_;
  }

  /// A pointer in one of the encodings of .eh_frame (DW_EH_PE_...). `data`: what DW_EH_PE_datarel
  /// counts from. Of DW_EH_PE_indirect the place where the pointer is.
  std::uintptr_t pointer(std::uint8_t encoding, std::uintptr_t data) noexcept;

 private:
  const std::byte* at_;
  const std::byte* end_;
  bool has_failed_ = false;
};

inline constexpr std::uint8_t kOmitted = 0xff;

}  // namespace headrace::profile
