#include "abi/front/slot_uses.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "record/own_memory.h"

namespace headrace::abi {
namespace {

#if defined(__x86_64__)

constexpr std::size_t kPart = std::size_t{64} << 10;
constexpr std::size_t kOpcode = 2;        // bytes of a call's, before its displacement
constexpr std::size_t kDisplacement = 4;  // bytes
// What may stand behind the displacement, from the end of which it counts: nothing, or a constant.
constexpr std::uintptr_t kConstants[] = {0, 1, 4};

/// call or jmp, by a word at a displacement from the next instruction (Intel's manual, volume 2).
bool is_call(const unsigned char* displacement) {
  return displacement[-2] == 0xff && (displacement[-1] == 0x15 || displacement[-1] == 0x25);
}

/// Looks for anything that might be a displacement of one of the words: that takes no knowledge of
/// where instructions begin, and finds some too many rather than too few.
void find_uses(std::span<const unsigned char> code, std::uintptr_t at,
               const std::set<std::uintptr_t>& words, std::set<std::uintptr_t>& used) {
  const std::uintptr_t least = *words.begin();
  const std::uintptr_t span = *words.rbegin() - least;
  for (std::size_t i = kOpcode; i + kDisplacement <= code.size(); ++i) {
    std::int32_t displacement = 0;
    std::memcpy(&displacement, &code[i], sizeof displacement);
    const std::uintptr_t end = at + i + kDisplacement + static_cast<std::uintptr_t>(displacement);
    if (end + kConstants[2] - least > span + kConstants[2]) continue;
    for (const std::uintptr_t constant : kConstants) {
      const std::uintptr_t word = end + constant;
      if (words.contains(word) && (constant != 0 || !is_call(&code[i]))) used.insert(word);
    }
  }
}

#endif

}  // namespace

std::set<std::uintptr_t> words_used(const ElfObject& object,
                                    const std::set<std::uintptr_t>& words) {
#if defined(__x86_64__)
  std::set<std::uintptr_t> used;
  if (words.empty()) return used;
  std::vector<unsigned char> part(kPart);
  bool is_whole = true;
  constexpr std::size_t kStep = kPart - kOpcode - kDisplacement;
  object.for_each_code([&](std::uintptr_t begin, std::uintptr_t end) {
    for (std::uintptr_t at = begin; at < end; at += kStep) {
      const std::size_t size = std::min<std::size_t>(kPart, end - at);
      is_whole =
          is_whole && record::read_own_memory(reinterpret_cast<const void*>(at), part.data(), size);
      if (!is_whole) return;
      find_uses(std::span(part).first(size), at, words, used);
    }
  });
  return is_whole ? used : words;
#else
  (void)object;
  return words;
#endif
}

}  // namespace headrace::abi
