#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mixed_hash.h"
#include "profile/python_sample.h"
#include "profile/sampled_thread.h"
#include "record/python_layout.h"

namespace headrace::profile {

/// Functions and lines of Python that samples have found. Each has a number, by which it goes into
/// a path among the addresses of machine code.
class PythonPlaces {
 public:
  struct Place {
    std::string function;
    std::string file;
    int line = 0;
  };

  /// Whether a word of a path is a place's number; programs have no code at such addresses.
  static constexpr bool is_place(std::uintptr_t word) noexcept { return (word & kMark) != 0; }
  const Place& place(std::uintptr_t word) const { return places_[word & ~kMark]; }

  /// The word of a frame, which was a sample's a moment ago; 0 if it cannot be read any more, or
  /// there are too many.
  std::uintptr_t word_of(const record::Python& python, const PythonFrame& frame);

 private:
  static constexpr std::uintptr_t kMark = std::uintptr_t{1} << 63;
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  struct Known {
    std::uint64_t mark = 0;  ///< of the code object
    std::uintptr_t word = 0;
  };
  struct Hash {
    std::size_t operator()(const PythonFrame& frame) const noexcept {
      return golden_hash(frame.code ^ frame.instruction << 20) >> 16;
    }
  };

  std::uintptr_t number_of(const Place& place);

  std::vector<Place> places_;
  std::unordered_map<std::string, std::uintptr_t> words_;
  std::unordered_map<PythonFrame, Known, Hash> known_;
};

/// Puts frames of Python between those of machine code, each behind the call of the interpreter
/// that ran it. All innermost first.
///
/// `native`: addresses one byte behind what was executed; `is_whole`: the outermost is there.
/// `words`: of the frames of `python`, 0 for one to leave out. `interpreter`: the machine code of
/// the function that runs Python; compilers may have put a part of it elsewhere, where its calls
/// are not recognised, and a call that has just begun has no frame yet. Where both outermost ends
/// are there, they go together; else the innermost do.
std::vector<std::uintptr_t> merged_path(std::span<const std::uintptr_t> native, bool is_whole,
                                        const PythonSample& python,
                                        std::span<const std::uintptr_t> words,
                                        const AddressRange& interpreter);

/// The machine code of the function that runs Python; empty if it has no name, or is not one
/// function.
AddressRange find_interpreter();

}  // namespace headrace::profile
