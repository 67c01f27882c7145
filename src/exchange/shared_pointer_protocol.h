#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/secret.h"

namespace headrace::exchange {

/// The protocol between ranks of other nodes and the process that has a shared pointer (the home),
/// over TCP. The home sends a greeting, a rank sends questions, and the home answers each before
/// the next. All messages have fixed sizes; numbers are little-endian.
///
/// Questions and answers carry an authentication code (SipHash-2-4, 128 bits) under the team's
/// secret. The secret itself never goes over this connection. The code covers the greeting's
/// challenge, which is drawn anew for each connection: a recorded message is invalid in another
/// connection.

/// What the home sends first.
struct PointerGreeting {
  Secret name{};       ///< of the home's process: not secret, but no other program sends it
  Secret challenge{};  ///< drawn for this connection
};

/// Asks the home to move the pointer and to tell where it was.
struct PointerQuestion {
  std::uint64_t sequence = 0;  ///< counts this rank's questions; a repeated number moves nothing
  std::int64_t etypes = 0;     ///< at least 0
  std::uint32_t rank = 0;      ///< the rank that asks
  std::uint32_t channel = 0;
  std::uint32_t cell = 0;  ///< 0 or 1

  bool operator==(const PointerQuestion&) const = default;
};

struct PointerAnswer {
  std::uint64_t sequence = 0;  ///< the question's
  std::int64_t position = 0;   ///< before the move; or kPointerTooFar, kPointerGone

  bool operator==(const PointerAnswer&) const = default;
};

/// The position in the answer if the first rank has closed the file.
inline constexpr std::int64_t kPointerGone = -2;

using GreetingBytes = std::array<std::byte, 32>;
using QuestionBytes = std::array<std::byte, 44>;
using AnswerBytes = std::array<std::byte, 32>;

GreetingBytes encode(const PointerGreeting& greeting);
PointerGreeting decode_greeting(const GreetingBytes& bytes);

QuestionBytes encode(const PointerQuestion& question, const Secret& secret,
                     const Secret& challenge);
AnswerBytes encode(const PointerAnswer& answer, const Secret& secret, const Secret& challenge);

/// Whether the question's code is right for this secret and this connection's challenge.
bool is_genuine(const QuestionBytes& bytes, const Secret& secret, const Secret& challenge);
bool is_genuine(const AnswerBytes& bytes, const Secret& secret, const Secret& challenge);

/// Decode genuine messages only.
PointerQuestion decode_question(const QuestionBytes& bytes);
PointerAnswer decode_answer(const AnswerBytes& bytes);

}  // namespace headrace::exchange
