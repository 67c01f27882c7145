#include "profile/unwinder.h"

#include <algorithm>
#include <limits>

#include "base/mixed_hash.h"
#include "profile/expression.h"

namespace headrace::profile {
namespace {

using Kind = RegisterRule::Kind;

constexpr std::int32_t kNotSaved = std::numeric_limits<std::int32_t>::min();
constexpr std::size_t kMostGuesses = 128;  // words of the stack that are looked at
constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);

bool fits(std::int64_t value) {
  return value > kNotSaved && value <= std::numeric_limits<std::int32_t>::max();
}

std::uintptr_t plus(std::uintptr_t address, std::int64_t offset) {
  return address + static_cast<std::uintptr_t>(offset);
}

/// What a register of the caller holds; nothing where that is not known.
std::optional<std::uintptr_t> value_of(const RegisterRule& rule, std::size_t number,
                                       std::uintptr_t cfa, const Registers& registers,
                                       const StackCopy& stack) noexcept {
  switch (rule.kind) {
    case Kind::same: return registers[number];
    case Kind::undefined: return std::nullopt;
    case Kind::saved: return stack.word(plus(cfa, rule.number));
    case Kind::value: return plus(cfa, rule.number);
    case Kind::moved: {
      const auto from = static_cast<std::size_t>(rule.number);
      if (from >= kRegisters) return std::nullopt;
      return registers[from];
    }
    case Kind::computed: return evaluate(rule.expression, registers, stack, cfa);
    case Kind::expression: {
      const auto address = evaluate(rule.expression, registers, stack, cfa);
      if (!address) return std::nullopt;
      return stack.word(*address);
    }
  }
  return std::nullopt;
}

}  // namespace

Unwinder::Known Unwinder::simplified(std::uintptr_t address, const FrameRules& rules) noexcept {
  Known known{address, 0, Form::other, 0, {}};
  known.saved.fill(kNotSaved);
  if (!rules.cfa_expression.empty() || rules.cfa_register >= kRegisters ||
      !fits(rules.cfa_offset) || rules.is_signal_frame) {
    return known;
  }
  for (std::size_t number = 0; number < kRegisters; ++number) {
    const RegisterRule& rule = rules.registers[number];
    if (rule.kind == Kind::same) continue;
    const auto* const kept = std::find(kKept.begin(), kKept.end(), number);
    if (rule.kind != Kind::saved || !fits(rule.number) || kept == kKept.end()) return known;
    known.saved[static_cast<std::size_t>(kept - kKept.begin())] =
        static_cast<std::int32_t>(rule.number);
  }
  if (known.saved.back() == kNotSaved) return known;
  known.form = Form::simple;
  known.cfa_register = static_cast<std::uint8_t>(rules.cfa_register);
  known.cfa_offset = static_cast<std::int32_t>(rules.cfa_offset);
  return known;
}

const Unwinder::Known& Unwinder::known_at(std::uintptr_t address,
                                          const CodeRange& object) noexcept {
  const std::size_t place = golden_hash(address) >> 32 & (kKnown - 1);
  Known& known = known_[place];
  if (known.address == address && known.form != Form::unknown) return known;
  const auto rules = find_rules(object, address);
  if (rules) {
    known = simplified(address, *rules);
  } else {
    known = {address, 0, Form::none, 0, {}};
  }
  return known;
}

Unwinder::Step Unwinder::apply(const Known& rules, Registers& registers,
                               const StackCopy& stack) noexcept {
  const std::uintptr_t cfa = plus(registers[rules.cfa_register], rules.cfa_offset);
  const auto back = stack.word(plus(cfa, rules.saved.back()));
  if (!back || cfa <= registers[kStackPointer]) return Step::failed;
  for (std::size_t i = 0; i + 1 < kKept.size(); ++i) {
    if (rules.saved[i] == kNotSaved) continue;
    if (const auto word = stack.word(plus(cfa, rules.saved[i]))) registers[kKept[i]] = *word;
  }
  registers[kStackPointer] = cfa;
  registers[kReturnAddress] = *back;
  return *back == 0 ? Step::outermost : Step::taken;
}

Unwinder::Step Unwinder::apply(const FrameRules& rules, Registers& registers,
                               const StackCopy& stack) noexcept {
  std::optional<std::uintptr_t> cfa;
  if (!rules.cfa_expression.empty()) {
    cfa = evaluate(rules.cfa_expression, registers, stack, std::nullopt);
  } else if (rules.cfa_register < kRegisters) {
    cfa = plus(registers[rules.cfa_register], rules.cfa_offset);
  }
  const RegisterRule& back = rules.registers[kReturnAddress];
  if (back.kind == Kind::undefined) return Step::outermost;
  if (!cfa) return Step::failed;
  Registers outer = registers;
  outer[kStackPointer] = *cfa;
  for (std::size_t number = 0; number < kRegisters; ++number) {
    const RegisterRule& rule = rules.registers[number];
    if (rule.kind == Kind::same) continue;
    const auto value = value_of(rule, number, *cfa, registers, stack);
    if (!value && number == kReturnAddress) return Step::failed;
    if (value) outer[number] = *value;
  }
  // A signal's frame may lie on another stack than the one that it interrupted.
  if (outer[kStackPointer] <= registers[kStackPointer] && !rules.is_signal_frame) {
    return Step::failed;
  }
  if (back.kind == Kind::same) return Step::failed;
  registers = outer;
  return registers[kReturnAddress] == 0 ? Step::outermost : Step::taken;
}

/// Whether the bytes before an address are a call: `call rel32`, or `call` by a register or memory
/// (Intel SDM, volume 2, CALL: E8, FF /2).
bool Unwinder::is_behind_call(std::uintptr_t address) const noexcept {
  constexpr std::uintptr_t kLongest = 7;
  const CodeRange* const object = code_.find(address - 1);
  if (object == nullptr || !object->is_readable || address - object->begin < kLongest) return false;
  const auto* const code = reinterpret_cast<const std::uint8_t*>(address);
  if (code[-5] == 0xe8) return true;
  for (const int length : {2, 3, 4, 6, 7}) {
    if (code[-length] == 0xff && (code[1 - length] & 0x38) == 0x10) return true;
  }
  return false;
}

Unwinder::Step Unwinder::guess(Registers& registers, const StackCopy& stack) const noexcept {
  const std::uintptr_t frame = registers[kFramePointer];
  if (frame >= registers[kStackPointer] && frame % kWord == 0) {
    const auto outer = stack.word(frame);
    const auto back = stack.word(frame + kWord);
    if (outer && back && *outer > frame && is_behind_call(*back)) {
      registers[kFramePointer] = *outer;
      registers[kStackPointer] = frame + 2 * kWord;
      registers[kReturnAddress] = *back;
      return Step::taken;
    }
  }
  std::uintptr_t at = registers[kStackPointer] & ~(kWord - 1);
  for (std::size_t i = 0; i < kMostGuesses; ++i, at += kWord) {
    const auto word = stack.word(at);
    if (!word) break;
    if (!is_behind_call(*word)) continue;
    registers[kStackPointer] = at + kWord;
    registers[kReturnAddress] = *word;
    return Step::taken;
  }
  return Step::failed;
}

Unwinder::Step Unwinder::step(Registers& registers, const StackCopy& stack,
                              bool& is_interrupted) noexcept {
  const std::uintptr_t address = registers[kReturnAddress] - (is_interrupted ? 0 : 1);
  is_interrupted = false;
  const CodeRange* const object = code_.find(address);
  if (object == nullptr) return guess(registers, stack);
  const Known& known = known_at(address, *object);
  Step taken = Step::failed;
  if (known.form == Form::simple) {
    taken = apply(known, registers, stack);
  } else if (known.form == Form::other) {
    if (const auto rules = find_rules(*object, address)) {
      taken = apply(*rules, registers, stack);
      is_interrupted = rules->is_signal_frame;
    }
  } else {
    taken = guess(registers, stack);
  }
  return taken;
}

void Unwinder::unwind(const Registers& registers, const StackCopy& stack, Unwound& found) noexcept {
  found.addresses[0] = registers[kReturnAddress] + 1;
  found.depth = 1;
  found.is_whole = false;
  if (!knows_frames() || known_.most() == 0) return;
  if (generation_ != code_.generation()) {
    for (std::size_t i = 0; i < kKnown; ++i) known_[i].form = Form::unknown;
    generation_ = code_.generation();
  }
  Registers frame = registers;
  bool is_interrupted = true;
  while (found.depth < Unwound::kMost) {
    const Step taken = step(frame, stack, is_interrupted);
    found.is_whole = taken == Step::outermost;
    if (taken != Step::taken) return;
    found.addresses[found.depth++] = frame[kReturnAddress] + (is_interrupted ? 1 : 0);
  }
}

}  // namespace headrace::profile
