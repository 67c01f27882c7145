#include "exchange/shared_pointer_protocol.h"

#include <algorithm>
#include <concepts>

namespace headrace::exchange {
namespace {

/// Writes values one behind the other.
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

}  // namespace

QuestionBytes encode(const PointerQuestion& question) {
  QuestionBytes bytes;
  Writer(bytes)
      .put(question.secret)
      .put(question.sequence)
      .put(static_cast<std::uint64_t>(question.etypes))
      .put(question.rank)
      .put(question.channel)
      .put(question.cell);
  return bytes;
}

AnswerBytes encode(const PointerAnswer& answer) {
  AnswerBytes bytes;
  Writer(bytes).put(answer.sequence).put(static_cast<std::uint64_t>(answer.position));
  return bytes;
}

PointerQuestion decode_question(const QuestionBytes& bytes) {
  PointerQuestion question;
  Reader reader(bytes);
  reader.get(question.secret);
  reader.get(question.sequence);
  reader.get(question.etypes);
  reader.get(question.rank);
  reader.get(question.channel);
  reader.get(question.cell);
  return question;
}

PointerAnswer decode_answer(const AnswerBytes& bytes) {
  PointerAnswer answer;
  Reader reader(bytes);
  reader.get(answer.sequence);
  reader.get(answer.position);
  return answer;
}

}  // namespace headrace::exchange
