#pragma once

#include <array>
#include <cstdint>

#include "profile/code_map.h"
#include "profile/frame_rules.h"
#include "profile/registers.h"
#include "profile/stack_copy.h"
#include "record/mapped_array.h"

namespace headrace::profile {

/// The frames of one sample, innermost first.
struct Unwound {
  static constexpr std::size_t kMost = 128;

  std::array<std::uintptr_t, kMost> addresses;  ///< each is one byte behind what was executed last
  std::size_t depth = 0;
  bool is_whole = false;  ///< the outermost frame is the thread's first
};

/// Unwinds copies of stacks by the unwind tables of the loaded objects. Code without tables is
/// passed by its frame pointer, or by the first word of the stack behind which a call returns. It
/// takes no memory and waits for nobody (CodeMap::with_objects_held). Not thread-safe.
class Unwinder {
 public:
  explicit Unwinder(const CodeMap& code) : code_(code), known_(kKnown) {}

  void unwind(const Registers& registers, const StackCopy& stack, Unwound& found) noexcept;

 private:
  enum class Step { taken, outermost, failed };
  enum class Form : std::uint8_t { unknown, simple, other, none };
  static constexpr std::size_t kKnown = 8192;
  static constexpr std::array<std::uint8_t, 7> kKept = {3, 6, 12, 13, 14, 15, kReturnAddress};

  /// The rules of nearly all places: the CFA is a register and an offset, and registers that
  /// functions have to keep are saved at offsets from it.
  struct Known {
    std::uintptr_t address;
    std::int32_t cfa_offset;
    Form form;
    std::uint8_t cfa_register;
    std::array<std::int32_t, kKept.size()> saved;  ///< INT32_MIN: it is not
  };

  Step step(Registers& registers, const StackCopy& stack, bool& is_interrupted) noexcept;
  const Known& known_at(std::uintptr_t address, const CodeRange& object) noexcept;
  static Known simplified(std::uintptr_t address, const FrameRules& rules) noexcept;
  static Step apply(const Known& rules, Registers& registers, const StackCopy& stack) noexcept;
  static Step apply(const FrameRules& rules, Registers& registers, const StackCopy& stack) noexcept;
  Step guess(Registers& registers, const StackCopy& stack) const noexcept;
  bool is_behind_call(std::uintptr_t address) const noexcept;

  const CodeMap& code_;
  record::MappedArray<Known> known_;
  std::uint64_t generation_ = 0;
};

}  // namespace headrace::profile
