#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "exchange/secret.h"

namespace headrace::exchange {

/// What ranks of other nodes and the process that has a shared pointer say to each other over a TCP
/// connection: it greets, they ask, each question is answered before the next. All messages have
/// fixed sizes; numbers are little-endian.

/// "Move the pointer, and tell where it was."
struct PointerQuestion {
  Secret secret{};             ///< of the team
  std::uint64_t sequence = 0;  ///< counts this rank's questions; asked again it moves nothing
  std::int64_t etypes = 0;     ///< at least 0
  std::uint32_t rank = 0;      ///< who asks
  std::uint32_t channel = 0;
  std::uint32_t cell = 0;  ///< 0 or 1

  bool operator==(const PointerQuestion&) const = default;
};

struct PointerAnswer {
  std::uint64_t sequence = 0;  ///< the question's
  std::int64_t position = 0;   ///< before the move; kPointerTooFar, kPointerGone

  bool operator==(const PointerAnswer&) const = default;
};

/// The answer where the first rank has closed the file.
inline constexpr std::int64_t kPointerGone = -2;

using QuestionBytes = std::array<std::byte, 44>;
using AnswerBytes = std::array<std::byte, 16>;

QuestionBytes encode(const PointerQuestion& question);
AnswerBytes encode(const PointerAnswer& answer);
PointerQuestion decode_question(const QuestionBytes& bytes);
PointerAnswer decode_answer(const AnswerBytes& bytes);

}  // namespace headrace::exchange
