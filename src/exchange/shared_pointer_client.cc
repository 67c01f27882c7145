#include "exchange/shared_pointer_client.h"

#include <cerrno>

namespace headrace::exchange {
namespace {

/// How long to wait for an answer. The home's thread needs some microseconds, but its process may
/// be stopped.
constexpr std::chrono::seconds kAnswerTimeout{120};
/// A question is sent over at most so many connections: the home closes idle ones when it has many.
constexpr int kMaxTries = 4;
/// The time between tries to reach the home. A home that is gone refuses at once, but each try
/// costs seconds if the home cannot be reached.
constexpr std::chrono::seconds kPause{30};

}  // namespace

Result<std::int64_t> SharedPointerClient::advance(int channel, int cell, std::int64_t etypes) {
  if (!process_.is_here()) {
    return Error{ErrorClass::unsupported_operation, 0,
                 "the shared pointer belongs to another process (this one was forked from it), use "
                 "it there"};
  }
  const std::lock_guard lock(mutex_);
  if (failure_ && Clock::now() < try_again_) return failure_;
  PointerQuestion question;
  question.sequence = ++sequence_;
  question.etypes = etypes;
  question.rank = static_cast<std::uint32_t>(rank_);
  question.channel = static_cast<std::uint32_t>(channel);
  question.cell = static_cast<std::uint32_t>(cell);
  Result<std::int64_t> position = ask_until_answered(question);
  failure_ = position ? Error{} : position.error();
  if (!position) {
    connection_ = Socket();
    try_again_ = Clock::now() + kPause;
  }
  return position;
}

Result<std::int64_t> SharedPointerClient::ask_until_answered(const PointerQuestion& question) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    if (!connection_) {
      HomeConnection reached = connect_to_home(home_);
      if (!reached.socket) return unreachable(reached.failure);
      connection_ = std::move(reached.socket);
      challenge_ = reached.challenge;
      was_reached_ = true;
    }
    const Result<PointerAnswer> answer = ask(question);
    if (answer) return answer.value().position;
    if (answer.error().system_error == ETIMEDOUT) return unreachable("no answer");
    connection_ = Socket();
  }
  return unreachable("it closes the connections");
}

Result<PointerAnswer> SharedPointerClient::ask(const PointerQuestion& question) const {
  if (!send_now(connection_, encode(question, home_.secret, challenge_))) {
    return system_failure(ECONNRESET, "cannot send");
  }
  AnswerBytes bytes;
  if (Error error = receive_all(connection_, bytes, Clock::now() + kAnswerTimeout)) return error;
  const PointerAnswer answer = decode_answer(bytes);
  const bool is_ours = is_genuine(bytes, home_.secret, challenge_);
  if (is_ours && answer.sequence == question.sequence) return answer;
  return system_failure(ECONNRESET, "cannot receive");
}

Error SharedPointerClient::unreachable(const std::string& why) const {
  if (was_reached_) {
    return {ErrorClass::io, 0,
            "the shared pointer is lost (rank 0's node has it and cannot be reached any more: " +
                why + "), see whether rank 0 still runs"};
  }
  return {ErrorClass::unsupported_operation, 0,
          "cannot reach rank 0's node for the shared pointer (" + why +
              "), let the nodes accept TCP connections from each other or use explicit offsets"};
}

}  // namespace headrace::exchange
