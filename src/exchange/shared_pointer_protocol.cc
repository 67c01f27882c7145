#include "exchange/shared_pointer_protocol.h"

#include <algorithm>
#include <concepts>

#include "base/siphash.h"

namespace headrace::exchange {
namespace {

/// Writes values one after another.
class Writer {
 public:
  explicit Writer(std::span<std::byte> bytes) : bytes_(bytes) {}

  Writer& put(const Secret& secret) {
    std::ranges::copy(secret, bytes_.begin());
    bytes_ = bytes_.subspan(secret.size());
    return *this;
  }
  template <std::unsigned_integral T>
  Writer& put(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes_[i] = std::byte(value >> (8 * i) & 0xff);
    bytes_ = bytes_.subspan(sizeof value);
    return *this;
  }

 private:
  std::span<std::byte> bytes_;
};

/// Reads them again.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void get(Secret& secret) {
    std::ranges::copy(bytes_.first(secret.size()), secret.begin());
    bytes_ = bytes_.subspan(secret.size());
  }
  template <std::integral T>
  void get(T& value) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) bits |= std::uint64_t(bytes_[i]) << (8 * i);
    value = static_cast<T>(bits);
    bytes_ = bytes_.subspan(sizeof value);
  }

 private:
  std::span<const std::byte> bytes_;
};

/// Messages begin with their code.
constexpr std::size_t kCodeLen = std::tuple_size_v<Secret>;

template <std::size_t kLen>
std::span<std::byte> fields_of(std::array<std::byte, kLen>& bytes) {
  return std::span(bytes).subspan(kCodeLen);
}

/// A byte for each kind of message, so that one is not taken for the other.
constexpr std::byte kQuestion{'Q'};
constexpr std::byte kAnswer{'A'};

Secret code_of(std::byte kind, std::span<const std::byte> fields, const Secret& secret,
               const Secret& challenge) {
  SipHash hash{SipHash::Key(secret)};
  hash.add({&kind, 1});
  hash.add(challenge);
  hash.add(fields);
  const SipHash::Code words = hash.end();
  Secret code;
  Writer(code).put(words[0]).put(words[1]);
  return code;
}

bool has_code(std::span<const std::byte> message, const Secret& code) {
  Secret given;
  std::ranges::copy(message.first(kCodeLen), given.begin());
  return is_same(given, code);
}

}  // namespace

GreetingBytes encode(const PointerGreeting& greeting) {
  GreetingBytes bytes;
  Writer(bytes).put(greeting.name).put(greeting.challenge);
  return bytes;
}

PointerGreeting decode_greeting(const GreetingBytes& bytes) {
  PointerGreeting greeting;
  Reader reader(bytes);
  reader.get(greeting.name);
  reader.get(greeting.challenge);
  return greeting;
}

QuestionBytes encode(const PointerQuestion& question, const Secret& secret,
                     const Secret& challenge) {
  QuestionBytes bytes;
  Writer(fields_of(bytes))
      .put(question.sequence)
      .put(static_cast<std::uint64_t>(question.etypes))
      .put(question.rank)
      .put(question.channel)
      .put(question.cell);
  Writer(bytes).put(code_of(kQuestion, fields_of(bytes), secret, challenge));
  return bytes;
}

AnswerBytes encode(const PointerAnswer& answer, const Secret& secret, const Secret& challenge) {
  AnswerBytes bytes;
  Writer(fields_of(bytes)).put(answer.sequence).put(static_cast<std::uint64_t>(answer.position));
  Writer(bytes).put(code_of(kAnswer, fields_of(bytes), secret, challenge));
  return bytes;
}

bool is_genuine(const QuestionBytes& bytes, const Secret& secret, const Secret& challenge) {
  return has_code(bytes,
                  code_of(kQuestion, std::span(bytes).subspan<kCodeLen>(), secret, challenge));
}

bool is_genuine(const AnswerBytes& bytes, const Secret& secret, const Secret& challenge) {
  return has_code(bytes, code_of(kAnswer, std::span(bytes).subspan<kCodeLen>(), secret, challenge));
}

PointerQuestion decode_question(const QuestionBytes& bytes) {
  PointerQuestion question;
  Reader reader{std::span<const std::byte>(bytes).subspan(kCodeLen)};
  reader.get(question.sequence);
  reader.get(question.etypes);
  reader.get(question.rank);
  reader.get(question.channel);
  reader.get(question.cell);
  return question;
}

PointerAnswer decode_answer(const AnswerBytes& bytes) {
  PointerAnswer answer;
  Reader reader{std::span<const std::byte>(bytes).subspan(kCodeLen)};
  reader.get(answer.sequence);
  reader.get(answer.position);
  return answer;
}

}  // namespace headrace::exchange
