#include <algorithm>
#include <cstring>

#include "base/siphash.h"
#include "exchange/shared_pointer_home.h"
#include "exchange/shared_pointer_registry.h"
#include "file/written_claims.h"
#include "parsers/target.h"
#include "unit/bare_store.h"

// Parsers of messages from other processes.

namespace headrace::parsers {
namespace {

Secret secret_of(std::uint8_t byte) {
  Secret secret;
  secret.fill(std::byte{byte});
  return secret;
}

template <class Bytes>
Bytes first_bytes(const Input& input, std::size_t from = 0) {
  Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size() && from + i < input.size(); ++i) {
    bytes[i] = std::byte{input[from + i]};
  }
  return bytes;
}

/// As a stranger sends them, and with the right code, as a rank that has gone wrong would.
void run_pointer_question(const Input& input) {
  exchange::SharedPointer pointer{};
  exchange::SharedPointerRegistry registry;
  registry.add_team(secret_of(1), 4);
  registry.add_channel(secret_of(1), 2, pointer);
  const Secret challenge = secret_of(3);
  std::array<std::int64_t, 2> before{};
  for (std::size_t from = 0; from < input.size(); from += sizeof(exchange::QuestionBytes)) {
    const auto bytes = first_bytes<exchange::QuestionBytes>(input, from);
    const auto to_stranger = registry.answer(bytes, challenge);
    require(!to_stranger || exchange::is_genuine(bytes, secret_of(1), challenge),
            "a stranger is answered");
    const exchange::PointerQuestion question = exchange::decode_question(bytes);
    const auto sealed = exchange::encode(question, secret_of(1), challenge);
    require(exchange::decode_question(sealed) == question, "a question changes when sent");
    const auto answer = registry.answer(sealed, challenge);
    if (answer) {
      require(exchange::is_genuine(*answer, secret_of(1), challenge), "an answer without its code");
      require(exchange::decode_answer(*answer).sequence == question.sequence, "another's answer");
    }
    for (std::size_t cell = 0; cell < 2; ++cell) {
      const std::int64_t now = pointer.cells[cell].load();
      require(now >= before[cell], "a pointer goes backwards");
      before[cell] = now;
    }
  }
}

std::vector<Input> pointer_question_corpus() {
  std::vector<Input> inputs;
  for (const exchange::PointerQuestion& question :
       {exchange::PointerQuestion{1, 10, 5, 2, 1}, exchange::PointerQuestion{7, 0, 0, 3, 0},
        exchange::PointerQuestion{2, INT64_MAX, 1, 2, 0}}) {
    const auto bytes = exchange::encode(question, secret_of(1), secret_of(3));
    Input input;
    for (int times = 0; times < 3; ++times) {
      for (const std::byte byte : bytes) input.push_back(std::to_integer<std::uint8_t>(byte));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void run_pointer_home(const Input& input) {
  exchange::SharedPointerHome home;
  std::memcpy(&home, input.data(), std::min(input.size(), sizeof home));
  const auto known = home.known_addresses();
  require(known.size() <= exchange::SharedPointerHome::kMaxAddresses, "too many addresses");
  std::vector<exchange::NetworkAddress> own(known.begin(), known.end());
  if (!own.empty()) own.front().bytes[15] ^= 1;
  for (const bool is_one_host : {false, true}) {
    const auto order = exchange::order_addresses(known, own, is_one_host);
    require(order.size() >= known.size(), "an address is lost");
    for (const exchange::NetworkAddress& address : order) {
      require(exchange::to_text(address).size() < 64, "an address as a long text");
      require(exchange::socket_address(address, home.port).len > 0, "no address to connect to");
    }
  }
}

std::vector<Input> pointer_home_corpus() {
  exchange::SharedPointerHome home;
  home.addresses[0] = {{192, 0, 2, 1}, 4, 24};
  home.addresses[1] = {{0x20, 1, 0xd, 0xb8}, 6, 64};
  home.address_count = 2;
  home.port = 4711;
  Input input(sizeof home);
  std::memcpy(input.data(), &home, sizeof home);
  return {input};
}

/// A file of bytes that follow from their places.
class PatternStore : public BareStore {
 public:
  static constexpr ByteCount kSize = 3 << 20;

  storage::Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    require(offset >= 0, "a negative offset is read");
    ByteCount done = 0;
    for (const iovec& segment : segments) {
      require(segment.iov_len <= (8U << 20), "a very long stretch is read");
      auto* const bytes = static_cast<std::uint8_t*>(segment.iov_base);
      for (std::size_t i = 0; i < segment.iov_len && offset + done < kSize; ++i, ++done) {
        bytes[i] = static_cast<std::uint8_t>((offset + done) * 7);
      }
    }
    return {done, 0};
  }
  storage::Transferred write(FileOffset, std::span<const iovec>) override { return {0, EBADF}; }
  Result<ByteCount> size() override { return kSize; }
  Error remove() override { return {}; }
};

/// Head and body of a claim, then of a comparison to one of our own.
void run_claim(const Input& input) {
  PatternStore store;
  fabric::Ring::Message message;
  const std::size_t head_len = std::min(input.size(), sizeof message.head);
  std::memcpy(message.head.data(), input.data(), head_len);
  for (std::size_t i = head_len; i < input.size() && i < fabric::Ring::kMaxBody; ++i) {
    message.body.push_back(std::byte{input[i]});
  }
  file::ReadBack read_back(store, 0);
  const fabric::Ring::Message comparison = read_back.judge(message);
  require(comparison.body.size() <= (1U << 20), "a comparison that is too long");

  std::vector<std::byte> data(5000, std::byte{1});
  const view::TypePtr byte = view::make_basic(1);
  const view::TypePtr pieces = view::make_hvector(10, 500, 900, byte);
  file::Access access{Direction::write, view::Cursor(pieces, 100), view::Cursor(byte, 0, 5000),
                      data.data(), 5000};
  file::WrittenClaims claims(access, access.bytes);
  for (int turn = 0; turn < 3; ++turn) {
    static_cast<void>(claims.next());
    claims.take_comparison(message);
  }
  for (const file::Suspect& suspect : claims.suspects()) {
    require(suspect.range.begin >= 100 && suspect.range.begin < suspect.range.end &&
                suspect.range.end <= 9'100 && suspect.position >= 0 && suspect.position < 5000,
            "bytes are suspected that were not written");
  }
}

std::vector<Input> claim_corpus() {
  const auto input = [](std::array<std::int64_t, 7> head, std::vector<std::int64_t> body) {
    Input bytes(sizeof head + body.size() * sizeof body[0]);
    std::memcpy(bytes.data(), head.data(), sizeof head);
    std::memcpy(bytes.data() + sizeof head, body.data(), body.size() * sizeof body[0]);
    return bytes;
  };
  return {input({300, 1, 2, 1}, {0, 100, 400, 600}), input({1, 0, 50}, {9, 9, 9, 9}),
          input({100, 1, 2, 0}, {1 << 20, (1 << 20) + 100}), input({1, EIO, 0}, {0})};
}

}  // namespace

const Target pointer_question_target{"pointer_question", run_pointer_question,
                                     pointer_question_corpus};
const Target pointer_home_target{"pointer_home", run_pointer_home, pointer_home_corpus};
const Target claim_target{"claim", run_claim, claim_corpus};

}  // namespace headrace::parsers
