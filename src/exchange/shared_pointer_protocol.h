#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/secret.h"

namespace headrace::exchange {

/// What ranks of other nodes and the process that has a shared pointer say to each other over a TCP
/// connection: it greets, they ask, each question is answered before the next. All messages have
/// fixed sizes; numbers are little-endian.
///
/// Questions and answers carry an authentication code (SipHash-2-4, 128 bits) under the team's
/// secret, which itself never goes over the network. It covers the greeting's challenge, drawn anew
/// for each connection: what somebody has overheard is worth nothing in another one.

/// What the home says first.
struct PointerGreeting {
  Secret name{};       ///< of its process: not a secret, but no other program says it
  Secret challenge{};  ///< of this connection
};

/// "Move the pointer, and tell where it was."
struct PointerQuestion {
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

using GreetingBytes = std::array<std::byte, 32>;
using QuestionBytes = std::array<std::byte, 44>;
using AnswerBytes = std::array<std::byte, 32>;

GreetingBytes encode(const PointerGreeting& greeting);
PointerGreeting decode_greeting(const GreetingBytes& bytes);

QuestionBytes encode(const PointerQuestion& question, const Secret& secret,
                     const Secret& challenge);
AnswerBytes encode(const PointerAnswer& answer, const Secret& secret, const Secret& challenge);

/// Whether a question comes from somebody who knows the secret, in this connection.
bool is_genuine(const QuestionBytes& bytes, const Secret& secret, const Secret& challenge);
bool is_genuine(const AnswerBytes& bytes, const Secret& secret, const Secret& challenge);

/// Of genuine ones.
PointerQuestion decode_question(const QuestionBytes& bytes);
PointerAnswer decode_answer(const AnswerBytes& bytes);

}  // namespace headrace::exchange
