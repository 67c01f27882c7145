#include "profile/expression.h"

#include "profile/dwarf_reader.h"

namespace headrace::profile {
namespace {

constexpr std::size_t kMostDepth = 16;
constexpr int kMostSteps = 256;

// Operations by their numbers (DWARF 5, section 7.7.1).
enum : std::uint8_t {
  kDereference = 0x06,
  kConstant1 = 0x08,  // unsigned and signed, of 1, 2, 4 and 8 bytes
  kConstantLast = 0x0f,
  kUnsignedLeb = 0x10,
  kSignedLeb = 0x11,
  kDuplicate = 0x12,
  kDrop = 0x13,
  kOver = 0x14,
  kSwap = 0x16,
  kAnd = 0x1a,
  kMinus = 0x1c,
  kMultiply = 0x1e,
  kNegate = 0x1f,
  kNot = 0x20,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusConstant = 0x23,
  kShiftLeft = 0x24,
  kShiftRight = 0x25,
  kShiftSigned = 0x26,
  kXor = 0x27,
  kEqual = 0x29,
  kNotEqual = 0x2e,
  kLiteral = 0x30,
  kLiteralLast = 0x4f,
  kBase = 0x70,
  kBaseLast = 0x8f,
  kNothing = 0x96,
};

class Evaluation {
 public:
  Evaluation(std::span<const std::byte> expression, const Registers& registers,
             const StackCopy& stack) noexcept
      : reader_(expression.data(), expression.data() + expression.size()),
        registers_(registers),
        stack_(stack) {}

  std::optional<std::uintptr_t> run(std::optional<std::uintptr_t> first) noexcept {
    if (first) push(*first);
    for (int i = 0; i < kMostSteps && !reader_.is_at_end() && !has_failed_; ++i) step();
    if (has_failed_ || reader_.has_failed() || !reader_.is_at_end() || depth_ == 0) {
      return std::nullopt;
    }
    return values_[depth_ - 1];
  }

 private:
  void push(std::uintptr_t value) noexcept {
    if (depth_ == kMostDepth) {
      has_failed_ = true;
      return;
    }
    values_[depth_++] = value;
  }
  std::uintptr_t pop() noexcept {
    if (depth_ == 0) {
      has_failed_ = true;
      return 0;
    }
    return values_[--depth_];
  }
  void step() noexcept;
  void step_one(std::uint8_t code) noexcept;
  void step_two(std::uint8_t code) noexcept;
  void push_constant(std::uint8_t code) noexcept;

  DwarfReader reader_;
  const Registers& registers_;
  const StackCopy& stack_;
  std::array<std::uintptr_t, kMostDepth> values_{};
  std::size_t depth_ = 0;
  bool has_failed_ = false;
};

void Evaluation::push_constant(std::uint8_t code) noexcept {
  switch (code - kConstant1) {
    case 0: return push(reader_.number<std::uint8_t>());
    case 1: return push(static_cast<std::uintptr_t>(std::intptr_t{reader_.number<std::int8_t>()}));
    case 2: return push(reader_.number<std::uint16_t>());
    case 3: return push(static_cast<std::uintptr_t>(std::intptr_t{reader_.number<std::int16_t>()}));
    case 4: return push(reader_.number<std::uint32_t>());
    case 5: return push(static_cast<std::uintptr_t>(std::intptr_t{reader_.number<std::int32_t>()}));
    default: return push(reader_.number<std::uint64_t>());
  }
}

void Evaluation::step() noexcept {
  const auto code = reader_.number<std::uint8_t>();
  if (code >= kLiteral && code <= kLiteralLast) return push(code - kLiteral);
  if (code >= kConstant1 && code <= kConstantLast) return push_constant(code);
  if (code >= kBase && code <= kBaseLast) {
    const std::size_t number = code - kBase;
    const auto offset = static_cast<std::uintptr_t>(reader_.signed_leb());
    if (number >= kRegisters) {
      has_failed_ = true;
      return;
    }
    return push(registers_[number] + offset);
  }
  step_one(code);
}

void Evaluation::step_one(std::uint8_t code) noexcept {
  switch (code) {
    case kNothing: return;
    case kUnsignedLeb: return push(reader_.unsigned_leb());
    case kSignedLeb: return push(static_cast<std::uintptr_t>(reader_.signed_leb()));
    case kDrop: pop(); return;
    case kNegate: return push(-pop());
    case kNot: return push(~pop());
    case kPlusConstant: return push(pop() + reader_.unsigned_leb());
    case kDuplicate: {
      const std::uintptr_t value = pop();
      push(value);
      return push(value);
    }
    case kDereference: {
      const auto word = stack_.word(pop());
      has_failed_ = has_failed_ || !word;
      return push(word.value_or(0));
    }
    default: return step_two(code);
  }
}

void Evaluation::step_two(std::uint8_t code) noexcept {
  constexpr std::uintptr_t kBits = 63;
  const std::uintptr_t right = pop();
  const std::uintptr_t left = pop();
  const auto signed_left = static_cast<std::intptr_t>(left);
  const auto signed_right = static_cast<std::intptr_t>(right);
  switch (code) {
    case kAnd: return push(left & right);
    case kMinus: return push(left - right);
    case kMultiply: return push(left * right);
    case kOr: return push(left | right);
    case kPlus: return push(left + right);
    case kShiftLeft: return push(right > kBits ? 0 : left << right);
    case kShiftRight: return push(right > kBits ? 0 : left >> right);
    case kShiftSigned:
      return push(static_cast<std::uintptr_t>(signed_left >> (right > kBits ? kBits : right)));
    case kXor: return push(left ^ right);
    case kEqual: return push(left == right ? 1 : 0);
    case kEqual + 1: return push(signed_left >= signed_right ? 1 : 0);
    case kEqual + 2: return push(signed_left > signed_right ? 1 : 0);
    case kEqual + 3: return push(signed_left <= signed_right ? 1 : 0);
    case kEqual + 4: return push(signed_left < signed_right ? 1 : 0);
    case kNotEqual: return push(left != right ? 1 : 0);
    case kSwap: push(right); return push(left);
    case kOver:
      push(left);
      push(right);
      return push(left);
    default: has_failed_ = true;
  }
}

}  // namespace

std::optional<std::uintptr_t> evaluate(std::span<const std::byte> expression,
                                       const Registers& registers, const StackCopy& stack,
                                       std::optional<std::uintptr_t> first) noexcept {
  return Evaluation(expression, registers, stack).run(first);
}

}  // namespace headrace::profile
