#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include "view/external32.h"
#include "view/floating.h"

namespace headrace::view::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

template <class Value>
Element element_of(Kind kind, ByteCount stored_size) {
  return {kind, 1, 1, sizeof(Value), stored_size};
}

template <class Value>
Bytes stored(const Element& element, Value value) {
  Bytes result(static_cast<std::size_t>(element.stored_size));
  to_external32(element, 1, reinterpret_cast<const std::byte*>(&value), result.data());
  return result;
}

template <class Value>
bool fits(const Element& element, Value value) {
  Bytes result(static_cast<std::size_t>(element.stored_size));
  return to_external32(element, 1, reinterpret_cast<const std::byte*>(&value), result.data());
}

template <class Value>
Value loaded(const Element& element, const Bytes& bytes) {
  Value value;
  std::memset(&value, 0x5a, sizeof value);
  from_external32(element, 1, bytes.data(), reinterpret_cast<std::byte*>(&value));
  return value;
}

template <class Value>
void expect_both_ways(const Element& element, Value value, const Bytes& bytes) {
  EXPECT_EQ(stored(element, value), bytes);
  EXPECT_EQ(loaded<Value>(element, bytes), value);
}

TEST(External32, StoresIntegersBigEndian) {
  expect_both_ways<std::int8_t>(element_of<std::int8_t>(Kind::signed_integer, 1), -2,
                                bytes_of({0xfe}));
  expect_both_ways<std::int16_t>(element_of<std::int16_t>(Kind::signed_integer, 2), -2,
                                 bytes_of({0xff, 0xfe}));
  expect_both_ways<std::int32_t>(element_of<std::int32_t>(Kind::signed_integer, 4), 0x01020304,
                                 bytes_of({1, 2, 3, 4}));
  expect_both_ways<std::uint64_t>(element_of<std::uint64_t>(Kind::unsigned_integer, 8),
                                  0xf102030405060708, bytes_of({0xf1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(External32, NarrowsAndWidensIntegers) {
  const Element signed_long = element_of<std::int64_t>(Kind::signed_integer, 4);
  expect_both_ways<std::int64_t>(signed_long, -5, bytes_of({0xff, 0xff, 0xff, 0xfb}));
  expect_both_ways<std::int64_t>(signed_long, 0x7fffffff, bytes_of({0x7f, 0xff, 0xff, 0xff}));
  // What does not fit keeps its least significant bytes.
  EXPECT_EQ(stored<std::int64_t>(signed_long, 0x0102030485060708), bytes_of({0x85, 6, 7, 8}));
  EXPECT_FALSE(fits<std::int64_t>(signed_long, 0x0102030485060708));
  EXPECT_FALSE(fits<std::int64_t>(signed_long, std::int64_t{0x80000000}));  // would turn negative
  EXPECT_TRUE(fits<std::int64_t>(signed_long, -std::int64_t{0x80000000}));
  EXPECT_FALSE(fits<std::int64_t>(signed_long, -std::int64_t{0x80000001}));
  const Element unsigned_long = element_of<std::uint64_t>(Kind::unsigned_integer, 4);
  expect_both_ways<std::uint64_t>(unsigned_long, 0x85060708, bytes_of({0x85, 6, 7, 8}));
  EXPECT_TRUE(fits<std::uint64_t>(unsigned_long, 0xffffffff));
  EXPECT_FALSE(fits<std::uint64_t>(unsigned_long, 0x100000000));
  const Element wide_character = element_of<std::uint32_t>(Kind::unsigned_integer, 2);
  expect_both_ways<std::uint32_t>(wide_character, 0xfe01, bytes_of({0xfe, 0x01}));
  const Element small = element_of<std::int16_t>(Kind::signed_integer, 4);
  expect_both_ways<std::int16_t>(small, -3, bytes_of({0xff, 0xff, 0xff, 0xfd}));
}

TEST(External32, StoresTruth) {
  const Element boolean = element_of<std::uint8_t>(Kind::boolean, 1);
  expect_both_ways<std::uint8_t>(boolean, 1, bytes_of({1}));
  expect_both_ways<std::uint8_t>(boolean, 0, bytes_of({0}));
  EXPECT_EQ(loaded<std::uint8_t>(boolean, bytes_of({0x80})), 1);
  const Element logical = element_of<std::int32_t>(Kind::logical, 4);
  expect_both_ways<std::int32_t>(logical, 1, bytes_of({0, 0, 0, 1}));
  expect_both_ways<std::int32_t>(logical, -1, bytes_of({0xff, 0xff, 0xff, 0xff}));
  const Element long_logical = element_of<std::int64_t>(Kind::logical, 4);
  EXPECT_EQ(stored<std::int64_t>(long_logical, std::int64_t{1} << 40), bytes_of({0, 0, 0, 1}));
}

TEST(External32, StoresFloatingPoint) {
  expect_both_ways<float>(element_of<float>(Kind::floating, 4), 1.5F, bytes_of({0x3f, 0xc0, 0, 0}));
  expect_both_ways<double>(element_of<double>(Kind::floating, 8), -2.0,
                           bytes_of({0xc0, 0, 0, 0, 0, 0, 0, 0}));
  // A Fortran REAL of 8 bytes, which a compiler's option makes, still has 4 in the file.
  expect_both_ways<double>(element_of<double>(Kind::floating, 4), -2.5,
                           bytes_of({0xc0, 0x20, 0, 0}));
  EXPECT_EQ(stored<double>(element_of<double>(Kind::floating, 4), 1e300),
            bytes_of({0x7f, 0x80, 0, 0}));
  const Element complex{Kind::floating, 2, 1, 8, 8};
  const float number[2] = {1.5F, -2.0F};
  Bytes result(8);
  to_external32(complex, 1, reinterpret_cast<const std::byte*>(number), result.data());
  EXPECT_EQ(result, bytes_of({0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0}));
}

Bytes quad(int first, int second, int third = 0) {
  Bytes result(16);
  result[0] = static_cast<std::byte>(first);
  result[1] = static_cast<std::byte>(second);
  result[2] = static_cast<std::byte>(third);
  return result;
}

const Element kLongDouble = {Kind::long_double, 1, 1, sizeof(long double), 16};

TEST(External32, StoresLongDoubleAsQuad) {
  using Limits = std::numeric_limits<long double>;
  expect_both_ways<long double>(kLongDouble, 0.0L, quad(0, 0));
  expect_both_ways<long double>(kLongDouble, 1.0L, quad(0x3f, 0xff));
  expect_both_ways<long double>(kLongDouble, -1.5L, quad(0xbf, 0xff, 0x80));
  expect_both_ways<long double>(kLongDouble, Limits::infinity(), quad(0x7f, 0xff));
  expect_both_ways<long double>(kLongDouble, -Limits::infinity(), quad(0xff, 0xff));
  expect_both_ways<long double>(kLongDouble, Limits::min(), quad(0, 1));
  EXPECT_TRUE(std::signbit(loaded<long double>(kLongDouble, quad(0x80, 0))));
  const Bytes nan = stored(kLongDouble, Limits::quiet_NaN());
  EXPECT_EQ(nan, quad(0x7f, 0xff, 0x80));
  EXPECT_TRUE(std::isnan(loaded<long double>(kLongDouble, nan)));
  // A payload of which nothing fits must not turn into an infinity.
  Bytes faint = quad(0x7f, 0xff);
  faint[15] = std::byte{1};
  EXPECT_TRUE(std::isnan(loaded<long double>(kLongDouble, faint)));
}

TEST(External32, KeepsEveryLongDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const int exponent = static_cast<int>(random() % 33000) - 16500;  // denormals too
    const auto significand = static_cast<long double>(random() | 1);
    const long double value = std::ldexp(i % 2 ? significand : -significand, exponent - 63);
    const Bytes bytes = stored(kLongDouble, value);
    ASSERT_EQ(loaded<long double>(kLongDouble, bytes), value);
  }
}

TEST(External32, ZeroesThePaddingOfLongDouble) {
  if (LDBL_MANT_DIG != 64) GTEST_SKIP();
  Bytes bytes(sizeof(long double), std::byte{0x5a});
  from_external32(kLongDouble, 1, quad(0x3f, 0xff).data(), bytes.data());
  for (std::size_t i = 10; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte{0});
}

template <class From, class To>
void expect_as_the_processor(From value) {
  const Element from = element_of<From>(Kind::floating, sizeof(From));
  Bytes bytes = stored(from, value);
  Bytes target(sizeof(To));
  convert_floating(ieee_format(sizeof(From)), bytes.data(), ieee_format(sizeof(To)), target.data());
  const auto wanted = static_cast<To>(value);
  const Bytes expected = stored(element_of<To>(Kind::floating, sizeof(To)), wanted);
  if (std::isnan(value)) {
    EXPECT_TRUE(std::isnan(loaded<To>(element_of<To>(Kind::floating, sizeof(To)), target)));
  } else {
    EXPECT_EQ(target, expected) << value;
  }
}

TEST(Floating, RoundsAsTheProcessor) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random();
    expect_as_the_processor<double, float>(std::bit_cast<double>(bits));
    // Around the least and greatest floats, where denormals and infinity begin.
    const auto exponent = static_cast<int>(random() % 320) - 170;
    expect_as_the_processor<double, float>(std::ldexp(
        static_cast<double>(static_cast<std::int64_t>(bits) >> (i % 40)), exponent - 50));
    expect_as_the_processor<float, double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
}

TEST(Floating, RoundsLongDoubleAsTheProcessor) {
  if (LDBL_MANT_DIG != 64) GTEST_SKIP();
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const int exponent = static_cast<int>(random() % 2300) - 1200;
    const long double value = std::ldexp(static_cast<long double>(random() >> (i % 30)), exponent);
    const Bytes bytes = stored(kLongDouble, value);
    Bytes target(8);
    convert_floating(ieee_format(16), bytes.data(), ieee_format(8), target.data());
    ASSERT_EQ(loaded<double>(element_of<double>(Kind::floating, 8), target),
              static_cast<double>(value));
  }
}

}  // namespace
}  // namespace headrace::view::test
