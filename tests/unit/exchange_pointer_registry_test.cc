#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "exchange/network_address.h"
#include "exchange/shared_pointer_registry.h"

namespace headrace::exchange {
namespace {

Secret secret_of(std::uint8_t byte) {
  Secret secret;
  secret.fill(std::byte{byte});
  return secret;
}

TEST(PointerProtocol, KeepsEveryField) {
  PointerQuestion question;
  question.sequence = 0x0102030405060708;
  question.etypes = std::numeric_limits<std::int64_t>::max() - 5;
  question.rank = 0xfffffffe;
  question.channel = 4095;
  question.cell = 1;
  EXPECT_EQ(decode_question(encode(question, secret_of(7), secret_of(8))), question);
  const PointerAnswer answer{1ULL << 63, kPointerGone};
  EXPECT_EQ(decode_answer(encode(answer, secret_of(7), secret_of(8))), answer);
  PointerGreeting greeting{secret_of(9), secret_of(10)};
  EXPECT_EQ(decode_greeting(encode(greeting)).name, greeting.name);
  EXPECT_EQ(decode_greeting(encode(greeting)).challenge, greeting.challenge);
}

TEST(PointerProtocol, IsLittleEndian) {
  const AnswerBytes bytes = encode(PointerAnswer{0x0201, -2}, secret_of(1), secret_of(2));
  EXPECT_EQ(bytes[16], std::byte{1});
  EXPECT_EQ(bytes[17], std::byte{2});
  EXPECT_EQ(bytes[24], std::byte{0xfe});
  EXPECT_EQ(bytes[31], std::byte{0xff});
}

/// Any bit changed on the way, another secret, another connection, a message of the other kind.
TEST(PointerProtocol, KnowsWhatIsNotGenuine) {
  const Secret secret = draw_secret().value();
  const Secret challenge = draw_secret().value();
  QuestionBytes question = encode(PointerQuestion{1, 2, 3, 4, 0}, secret, challenge);
  AnswerBytes answer = encode(PointerAnswer{1, 2}, secret, challenge);
  EXPECT_TRUE(is_genuine(question, secret, challenge));
  EXPECT_TRUE(is_genuine(answer, secret, challenge));
  for (const Secret& other : {draw_secret().value(), challenge}) {
    EXPECT_FALSE(is_genuine(question, other, challenge));
    EXPECT_FALSE(is_genuine(answer, other, challenge));
  }
  EXPECT_FALSE(is_genuine(question, secret, secret));
  EXPECT_FALSE(is_genuine(answer, secret, draw_secret().value()));
  for (std::size_t bit = 0; bit < 8 * question.size(); ++bit) {
    question[bit / 8] ^= std::byte(1U << bit % 8);
    EXPECT_FALSE(is_genuine(question, secret, challenge)) << bit;
    question[bit / 8] ^= std::byte(1U << bit % 8);
  }
  for (std::size_t bit = 0; bit < 8 * answer.size(); ++bit) {
    answer[bit / 8] ^= std::byte(1U << bit % 8);
    EXPECT_FALSE(is_genuine(answer, secret, challenge)) << bit;
    answer[bit / 8] ^= std::byte(1U << bit % 8);
  }
}

/// Whoever reads the network along finds it nowhere.
TEST(PointerProtocol, SendsNoPartOfTheSecret) {
  const Secret secret = draw_secret().value();
  const Secret challenge = draw_secret().value();
  const auto holds_part = [&](std::span<const std::byte> bytes) {
    constexpr std::size_t kPart = 4;
    for (std::size_t i = 0; i + kPart <= secret.size(); ++i) {
      const auto part = std::span(secret).subspan(i, kPart);
      if (!std::ranges::search(bytes, part).empty()) return true;
    }
    return false;
  };
  EXPECT_FALSE(holds_part(encode(PointerQuestion{1, 2, 3, 4, 0}, secret, challenge)));
  EXPECT_FALSE(holds_part(encode(PointerAnswer{1, 2}, secret, challenge)));
  EXPECT_TRUE(holds_part(encode(PointerGreeting{secret, challenge}))) << "the search finds nothing";
}

TEST(PointerProtocol, TellsSecretsApartByAnyBit) {
  const Secret secret = draw_secret().value();
  EXPECT_TRUE(is_same(secret, secret));
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Secret other = secret;
    other[bit / 8] ^= std::byte(1U << bit % 8);
    EXPECT_FALSE(is_same(secret, other)) << bit;
  }
  EXPECT_FALSE(is_same(secret, draw_secret().value()));
}

class PointerRegistryTest : public testing::Test {
 protected:
  PointerRegistryTest() {
    registry_.add_team(secret_of(1), 64);
    registry_.add_channel(secret_of(1), 3, pointer_);
  }

  std::optional<PointerAnswer> ask(std::int64_t etypes, std::uint64_t sequence) {
    return ask(secret_of(1), {sequence, etypes, 5, 3, 1});
  }
  std::optional<PointerAnswer> ask(const Secret& secret, const PointerQuestion& question) {
    const Secret challenge = draw_secret().value();
    const auto answer = registry_.answer(encode(question, secret, challenge), challenge);
    if (!answer) return std::nullopt;
    EXPECT_TRUE(is_genuine(*answer, secret, challenge));
    return decode_answer(*answer);
  }

  SharedPointer pointer_{};
  SharedPointerRegistry registry_;
};

TEST_F(PointerRegistryTest, MovesTheCellThatIsNamed) {
  EXPECT_EQ(ask(10, 1), (PointerAnswer{1, 0}));
  EXPECT_EQ(ask(5, 2), (PointerAnswer{2, 10}));
  EXPECT_EQ(ask(0, 3), (PointerAnswer{3, 15}));
  EXPECT_EQ(pointer_.cells[0].load(), 0);
  EXPECT_EQ(pointer_.cells[1].load(), 15);
}

TEST_F(PointerRegistryTest, MovesNothingForAQuestionAskedAgain) {
  EXPECT_EQ(ask(10, 1), (PointerAnswer{1, 0}));
  EXPECT_EQ(ask(10, 1), (PointerAnswer{1, 0}));
  EXPECT_EQ(ask(10, 2), (PointerAnswer{2, 10}));
  EXPECT_FALSE(ask(10, 1));
  EXPECT_EQ(pointer_.cells[1].load(), 20);
  // Another rank counts its own questions.
  EXPECT_EQ(ask(secret_of(1), {1, 1, 6, 3, 1}), (PointerAnswer{1, 20}));
}

TEST_F(PointerRegistryTest, KeepsAPointerFromGoingTooFar) {
  pointer_.cells[1].store(std::numeric_limits<std::int64_t>::max() - 5);
  EXPECT_EQ(ask(6, 1), (PointerAnswer{1, kPointerTooFar}));
  EXPECT_EQ(ask(5, 2), (PointerAnswer{2, std::numeric_limits<std::int64_t>::max() - 5}));
}

TEST_F(PointerRegistryTest, AnswersNoStranger) {
  EXPECT_FALSE(ask(secret_of(2), {1, 1, 5, 3, 1}));
  EXPECT_FALSE(ask(secret_of(0), {1, 1, 5, 3, 1}));
  EXPECT_FALSE(ask(-1, 1));
  EXPECT_FALSE(ask(1, 0));
  EXPECT_FALSE(ask(secret_of(1), {1, 1, 5, 3, 2}));
  EXPECT_EQ(pointer_.cells[1].load(), 0);
}

TEST_F(PointerRegistryTest, KnowsWhatIsGone) {
  EXPECT_EQ(ask(secret_of(1), {1, 1, 5, 4, 0}), (PointerAnswer{1, kPointerGone}));
  registry_.remove_channel(secret_of(1), 3);
  EXPECT_EQ(ask(1, 2), (PointerAnswer{2, kPointerGone}));
  registry_.remove_team(secret_of(1));
  EXPECT_FALSE(ask(1, 3));
}

NetworkAddress address4(std::array<std::uint8_t, 4> bytes, std::uint8_t prefix_len) {
  NetworkAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  address.version = 4;
  address.prefix_len = prefix_len;
  return address;
}

std::vector<std::string> texts(const std::vector<NetworkAddress>& addresses) {
  std::vector<std::string> result;
  for (const NetworkAddress& address : addresses) result.push_back(to_text(address));
  return result;
}

using Texts = std::vector<std::string>;

TEST(NetworkAddresses, OfCommonSubnetsComeFirst) {
  NetworkAddress six;
  six.version = 6;
  six.bytes[0] = 0x20;
  six.bytes[15] = 9;
  six.prefix_len = 64;
  NetworkAddress my_six = six;
  my_six.bytes[15] = 1;
  const std::vector<NetworkAddress> peer{address4({10, 1, 0, 1}, 16),
                                         address4({192, 168, 4, 1}, 23), six};
  const std::vector<NetworkAddress> own{address4({192, 168, 5, 2}, 23), my_six};
  EXPECT_EQ(texts(order_addresses(peer, own, false)),
            (Texts{"192.168.4.1", "2000::9", "10.1.0.1"}));
  EXPECT_EQ(texts(order_addresses(peer, {}, false)), (Texts{"10.1.0.1", "192.168.4.1", "2000::9"}));
}

TEST(NetworkAddresses, OfABridgeThatBothHostsHaveComeLast) {
  const NetworkAddress bridge = address4({172, 17, 0, 1}, 16);
  const std::vector<NetworkAddress> peer{bridge, address4({10, 1, 0, 1}, 16)};
  const std::vector<NetworkAddress> own{bridge, address4({10, 2, 0, 2}, 16)};
  EXPECT_EQ(texts(order_addresses(peer, own, false)), (Texts{"10.1.0.1", "172.17.0.1"}));
  EXPECT_EQ(texts(order_addresses(peer, own, true)),
            (Texts{"127.0.0.1", "::1", "172.17.0.1", "10.1.0.1"}));
}

TEST(NetworkAddresses, OfThisMachineAreNoLoopback) {
  for (const NetworkAddress& address : own_addresses()) {
    EXPECT_TRUE(address.version == 4 || address.version == 6);
    EXPECT_NE(to_text(address).substr(0, 4), "127.");
    EXPECT_NE(to_text(address), "::1");
  }
}

}  // namespace
}  // namespace headrace::exchange
