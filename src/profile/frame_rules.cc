#include "profile/frame_rules.h"

#include "profile/dwarf_reader.h"
#include "profile/frame_entry.h"

namespace headrace::profile {
namespace {

using Kind = RegisterRule::Kind;

constexpr std::size_t kMostRemembered = 8;

// The instructions, by their first byte (DWARF 5, section 7.24). The first three have an operand in
// their low bits.
enum : std::uint8_t {
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNothing = 0x00,
  kSetPlace = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetLong = 0x05,
  kRestoreLong = 0x06,
  kUndefined = 0x07,
  kSame = 0x08,
  kRegister = 0x09,
  kRemember = 0x0a,
  kRecall = 0x0b,
  kCfa = 0x0c,
  kCfaRegister = 0x0d,
  kCfaOffset = 0x0e,
  kCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetSigned = 0x11,
  kCfaSigned = 0x12,
  kCfaOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kArgumentsSize = 0x2e,
  kNegativeOffset = 0x2f,
};

/// Carries out instructions up to an address.
class RuleMachine {
 public:
  RuleMachine(const FrameEntry& entry, std::uintptr_t address) noexcept
      : entry_(entry), address_(address), place_(entry.begin) {}

  bool run(const std::byte* begin, const std::byte* end) noexcept {
    DwarfReader reader(begin, end);
    while (!reader.is_at_end() && place_ <= address_) {
      if (!step(reader)) return false;
    }
    return !reader.has_failed();
  }
  void begin_own() noexcept { initial_ = rules_; }
  const FrameRules& rules() const noexcept { return rules_; }

 private:
  bool step(DwarfReader& reader) noexcept;
  bool step_long(DwarfReader& reader, std::uint8_t code) noexcept;
  bool step_cfa(DwarfReader& reader, std::uint8_t code) noexcept;
  void advance(std::uint64_t units) noexcept { place_ += units * entry_.code_factor; }
  void set(std::uint64_t number, Kind kind, std::int64_t value) noexcept {
    if (number < kRegisters) rules_.registers[number] = {kind, value, {}};
  }
  void restore(std::uint64_t number) noexcept {
    if (number < kRegisters) rules_.registers[number] = initial_.registers[number];
  }
  std::int64_t factored(std::uint64_t value) const noexcept {
    return static_cast<std::int64_t>(value) * entry_.data_factor;
  }
  std::int64_t factored_signed(std::int64_t value) const noexcept {
    return value * entry_.data_factor;
  }
  static std::span<const std::byte> block(DwarfReader& reader) noexcept {
    const std::uint64_t size = reader.unsigned_leb();
    const std::byte* const begin = reader.at();
    reader.skip(size);
    if (reader.has_failed()) return {};
    return {begin, static_cast<std::size_t>(size)};
  }

  const FrameEntry& entry_;
  const std::uintptr_t address_;
  std::uintptr_t place_;
  FrameRules rules_;
  FrameRules initial_;
  std::array<FrameRules, kMostRemembered> remembered_;
  std::size_t remembered_count_ = 0;
};

bool RuleMachine::step(DwarfReader& reader) noexcept {
  const auto code = reader.number<std::uint8_t>();
  const std::uint8_t low = code & 0x3f;
  switch (code & 0xc0) {
    case kAdvance: advance(low); return true;
    case kOffset: set(low, Kind::saved, factored(reader.unsigned_leb())); return true;
    case kRestore: restore(low); return true;
    default: break;
  }
  switch (code) {
    case kNothing: return true;
    case kSetPlace: place_ = reader.pointer(entry_.encoding, 0); return true;
    case kAdvance1: advance(reader.number<std::uint8_t>()); return true;
    case kAdvance2: advance(reader.number<std::uint16_t>()); return true;
    case kAdvance4: advance(reader.number<std::uint32_t>()); return true;
    case kRemember:
      if (remembered_count_ == kMostRemembered) return false;
      remembered_[remembered_count_++] = rules_;
      return true;
    case kRecall:
      if (remembered_count_ == 0) return false;
      rules_ = remembered_[--remembered_count_];
      return true;
    case kArgumentsSize: reader.unsigned_leb(); return true;
    default: return step_cfa(reader, code);
  }
}

bool RuleMachine::step_cfa(DwarfReader& reader, std::uint8_t code) noexcept {
  switch (code) {
    case kCfa:
      rules_.cfa_register = reader.unsigned_leb();
      rules_.cfa_offset = static_cast<std::int64_t>(reader.unsigned_leb());
      break;
    case kCfaSigned:
      rules_.cfa_register = reader.unsigned_leb();
      rules_.cfa_offset = factored_signed(reader.signed_leb());
      break;
    case kCfaRegister: rules_.cfa_register = reader.unsigned_leb(); break;
    case kCfaOffset: rules_.cfa_offset = static_cast<std::int64_t>(reader.unsigned_leb()); break;
    case kCfaOffsetSigned: rules_.cfa_offset = factored_signed(reader.signed_leb()); break;
    case kCfaExpression: rules_.cfa_expression = block(reader); return true;
    default: return step_long(reader, code);
  }
  rules_.cfa_expression = {};
  return true;
}

bool RuleMachine::step_long(DwarfReader& reader, std::uint8_t code) noexcept {
  const std::uint64_t number = reader.unsigned_leb();
  switch (code) {
    case kOffsetLong: set(number, Kind::saved, factored(reader.unsigned_leb())); return true;
    case kOffsetSigned: set(number, Kind::saved, factored_signed(reader.signed_leb())); return true;
    case kNegativeOffset: set(number, Kind::saved, -factored(reader.unsigned_leb())); return true;
    case kValueOffset: set(number, Kind::value, factored(reader.unsigned_leb())); return true;
    case kValueOffsetSigned:
      set(number, Kind::value, factored_signed(reader.signed_leb()));
      return true;
    case kRestoreLong: restore(number); return true;
    case kUndefined: set(number, Kind::undefined, 0); return true;
    case kSame: set(number, Kind::same, 0); return true;
    case kRegister:
      set(number, Kind::moved, static_cast<std::int64_t>(reader.unsigned_leb()));
      return true;
    case kExpression:
    case kValueExpression: {
      const auto expression = block(reader);
      const Kind kind = code == kExpression ? Kind::expression : Kind::computed;
      if (number < kRegisters) rules_.registers[number] = {kind, 0, expression};
      return true;
    }
    default: return false;
  }
}

}  // namespace

std::optional<FrameRules> find_rules(const CodeRange& object, std::uintptr_t address) noexcept {
  const auto entry = find_entry(object, address);
  if (!entry || entry->return_column != kReturnAddress) return std::nullopt;
  RuleMachine machine(*entry, address);
  if (!machine.run(entry->common_begin, entry->common_end)) return std::nullopt;
  machine.begin_own();
  if (!machine.run(entry->own_begin, entry->own_end)) return std::nullopt;
  FrameRules rules = machine.rules();
  rules.is_signal_frame = entry->is_signal_frame;
  return rules;
}

}  // namespace headrace::profile
