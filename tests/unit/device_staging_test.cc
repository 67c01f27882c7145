#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "device/detection.h"
#include "device/image.h"
#include "device/staging.h"
#include "steps/engine/make_type.h"
#include "steps/type_generator.h"
#include "support/gpu/fake_driver.h"
#include "view/copy.h"

namespace headrace::device::test {
namespace {

using steps::Pair;
using steps::TypeGenerator;
using Bytes = std::vector<std::byte>;
using Numbers = std::vector<std::int64_t>;

std::byte pattern(std::int64_t i) {
  return static_cast<std::byte>((i * 131 + i / 251) | 1);
}

/// Data of a type, repeated, in a device's memory.
class OnDevice {
 public:
  OnDevice(const Pair& pair, std::int64_t count) : type_(pair.type), count_(count) {
    places_ = pair.model.repeated(count);
    low_ = *std::ranges::min_element(places_);
    content_.resize(static_cast<std::size_t>(*std::ranges::max_element(places_) + 1 - low_));
    for (std::size_t i = 0; i < content_.size(); ++i) {
      content_[i] = pattern(static_cast<std::int64_t>(i) + 77);
    }
    memory_ = driver().allocate(content_);
  }
  ~OnDevice() { driver().free(memory_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  static FakeDriver& driver() { return FakeDriver::installed(); }
  ByteCount bytes() const { return std::ssize(places_); }
  std::byte* buffer() const { return memory_ - low_; }
  const view::TypePtr& type() const { return type_; }
  std::int64_t count() const { return count_; }

  std::unique_ptr<Staging> stage(Direction direction, ByteCount most = HostBuffer::kMaxSize) const {
    return Staging::make(direction, find(memory_).value(), buffer(),
                         view::Cursor(type_, 0, bytes()), most);
  }
  /// The bytes of data as they were at first.
  Bytes packed() const {
    Bytes result;
    for (const std::int64_t place : places_) result.push_back(content_[index(place)]);
    return result;
  }
  /// What the memory should be once the first `bytes` bytes of data are `data`.
  Bytes after(const Bytes& data, ByteCount bytes) const {
    Bytes result = content_;
    for (ByteCount i = 0; i < bytes; ++i) {
      result[index(places_[static_cast<std::size_t>(i)])] = data[static_cast<std::size_t>(i)];
    }
    return result;
  }
  /// Whether the first `bytes` bytes of data are those of `data` now.
  bool has(const Bytes& data, ByteCount bytes) const {
    const Bytes is = content();
    for (ByteCount i = 0; i < bytes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (is[index(places_[at])] != data[at]) return false;
    }
    return true;
  }
  Bytes content() const { return driver().content(memory_); }

 private:
  std::size_t index(std::int64_t place) const { return static_cast<std::size_t>(place - low_); }

  view::TypePtr type_;
  std::int64_t count_;
  Numbers places_;
  std::int64_t low_;
  Bytes content_;
  std::byte* memory_;
};

Bytes other_data(ByteCount bytes) {
  Bytes data;
  for (ByteCount i = 0; i < bytes; ++i) data.push_back(pattern(i * 3 + 5));
  return data;
}

/// Takes all that staging gives, in steps of `step` bytes; stops where it gives no more.
Bytes gather(Staging& staging, ByteCount bytes, ByteCount step) {
  Bytes result;
  while (std::ssize(result) < bytes) {
    const ByteCount position = std::ssize(result);
    const auto host = staging.open(position, std::min(step, bytes - position));
    if (host.empty()) break;
    result.insert(result.end(), host.begin(), host.end());
    staging.close(std::ssize(host));
  }
  return result;
}

/// Gives it `data` in steps of `step` bytes; stops where it takes no more.
void scatter(Staging& staging, const Bytes& data, ByteCount step) {
  for (ByteCount position = 0; position < std::ssize(data);) {
    const auto host = staging.open(position, std::min(step, std::ssize(data) - position));
    if (host.empty()) break;
    std::memcpy(host.data(), data.data() + position, host.size());
    staging.close(std::ssize(host));
    position += std::ssize(host);
  }
  staging.flush();
}

/// Small and of every form, then longer than all that is staged at a time.
std::vector<std::pair<Pair, std::int64_t>> shapes() {
  std::vector<std::pair<Pair, std::int64_t>> result;
  TypeGenerator generator(5, true);
  while (result.size() < 60) {
    const Pair pair = pair_of(generator.make(static_cast<int>(generator.number(0, 4))));
    if (!pair.model.offsets.empty()) result.emplace_back(pair, generator.number(1, 30));
  }
  result.emplace_back(pair_of(steps::basic(8)), 400'001);
  result.emplace_back(pair_of(steps::resized(0, 5'000, steps::basic(3'000))), 1'500);
  return result;
}

TEST(Staging, GathersTheDataInOrder) {
  for (const auto& [pair, count] : shapes()) {
    const OnDevice data(pair, count);
    for (const ByteCount step : {ByteCount{7'001}, ByteCount{1} << 30}) {
      const auto staging = data.stage(Direction::write);
      ASSERT_EQ(gather(*staging, data.bytes(), step), data.packed()) << data.bytes();
      EXPECT_FALSE(staging->failure());
    }
  }
}

TEST(Staging, ScattersTheDataAndNothingElse) {
  for (const auto& [pair, count] : shapes()) {
    for (const ByteCount step : {ByteCount{7'001}, ByteCount{1} << 30}) {
      const OnDevice data(pair, count);
      const Bytes read = other_data(data.bytes());
      const auto staging = data.stage(Direction::read);
      scatter(*staging, read, step);
      ASSERT_EQ(data.content(), data.after(read, data.bytes())) << data.bytes();
      EXPECT_EQ(staging->done(), data.bytes());
    }
  }
}

/// The end of a file: less comes than was asked for.
TEST(Staging, ScattersWhatWasFilled) {
  const auto [pair, count] = shapes().back();
  for (const ByteCount filled : {0, 1, 12'345, 1'048'576, 2'500'000}) {
    const OnDevice data(pair, count);
    const auto staging = data.stage(Direction::read);
    Bytes read = other_data(data.bytes());
    read.resize(static_cast<std::size_t>(filled));
    scatter(*staging, read, 100'000);
    EXPECT_EQ(data.content(), data.after(read, filled)) << filled;
    EXPECT_EQ(staging->done(), filled);
  }
}

TEST(Staging, GoesBackToWhereItIsAsked) {
  const auto [pair, count] = shapes().back();
  const OnDevice data(pair, count);
  const Bytes packed = data.packed();
  const auto staging = data.stage(Direction::write);
  for (const ByteCount position : {0, 2'000'000, 100, 1'048'570, 4'400'000, 3'000'000, 0}) {
    const auto host = staging->open(position, 1'000);
    ASSERT_FALSE(host.empty());
    EXPECT_TRUE(std::equal(host.begin(), host.end(), packed.begin() + position)) << position;
  }
}

/// After a failure nothing more is moved, and done() claims nothing that was not.
TEST(Staging, StopsWhereACopyFails) {
  FakeDriver& driver = FakeDriver::installed();
  const auto [pair, count] = shapes().back();
  for (const Direction direction : {Direction::write, Direction::read}) {
    for (int which = 0; which < 12; ++which) {
      const OnDevice data(pair, count);
      const Bytes read = other_data(data.bytes());
      const auto staging = data.stage(direction);
      const bool late = which % 2 == 1;
      driver.fail(1 + which / 2, late);
      if (direction == Direction::write) {
        const Bytes gathered = gather(*staging, data.bytes(), 300'000);
        const Bytes packed = data.packed();
        ASSERT_LT(gathered.size(), packed.size()) << which;
        EXPECT_TRUE(std::equal(gathered.begin(), gathered.end(), packed.begin())) << which;
        EXPECT_LE(staging->done(), std::ssize(gathered)) << which;
      } else {
        scatter(*staging, read, 300'000);
        ASSERT_LT(staging->done(), data.bytes()) << which;
        EXPECT_TRUE(data.has(read, staging->done())) << which;
      }
      EXPECT_EQ(staging->failure().system_error, EFAULT) << which;
      EXPECT_NE(staging->failure().message.find("fake driver"), std::string::npos);
      EXPECT_TRUE(staging->open(0, 10).empty());
      driver.fail(0, false);
    }
  }
}

TEST(Staging, KeepsStreamsForLaterCalls) {
  FakeDriver& driver = FakeDriver::installed();
  const auto [pair, count] = shapes().front();
  const OnDevice data(pair, count);
  driver.reset_device();
  const int before = driver.streams();
  for (int i = 0; i < 10; ++i) gather(*data.stage(Direction::write), data.bytes(), 1'000);
  EXPECT_EQ(driver.streams(), before + 1);
  driver.reset_device();
  for (int i = 0; i < 10; ++i) gather(*data.stage(Direction::write), data.bytes(), 1'000);
  EXPECT_EQ(driver.streams(), before + 2) << "one of a device that was reset is of no use";
}

TEST(Staging, KeepsNoStreamThatFailed) {
  FakeDriver& driver = FakeDriver::installed();
  const auto [pair, count] = shapes().front();
  const OnDevice data(pair, count);
  const Bytes read = other_data(data.bytes());
  for (const Direction direction : {Direction::write, Direction::read}) {
    for (const bool late : {false, true}) {
      const auto move = [&] {
        const auto staging = data.stage(direction);
        if (direction == Direction::write) {
          gather(*staging, data.bytes(), 1'000);
        } else {
          scatter(*staging, read, 1'000);
        }
        return static_cast<bool>(staging->failure());
      };
      driver.fail(1, late);
      EXPECT_TRUE(move());
      EXPECT_FALSE(move()) << "the next call has the stream that failed";
    }
  }
}

/// Calls that wait for their turn, of which there may be many.
TEST(Staging, TakesNothingUntilDataIsMoved) {
  FakeDriver& driver = FakeDriver::installed();
  driver.reset_device();
  const auto [pair, count] = shapes().back();
  const OnDevice data(pair, count);
  const int before = driver.streams();
  std::vector<std::unique_ptr<Staging>> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(data.stage(i % 2 == 0 ? Direction::write : Direction::read));
  }
  waiting[1]->flush();
  EXPECT_EQ(driver.streams(), before);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (i % 2 == 0) {
      EXPECT_EQ(gather(*waiting[i], data.bytes(), 1 << 30), data.packed());
    }
    waiting[i].reset();
  }
  EXPECT_EQ(driver.streams(), before + 1);
}

TEST(Staging, TakesMemoryForTheDataAndNoMoreThanItMay) {
  FakeDriver& driver = FakeDriver::installed();
  constexpr ByteCount kLargest = HostBuffer::kMaxSize;
  const auto largest = [&](ByteCount bytes, ByteCount most) {
    driver.reset_device();
    driver.largest_pinned();
    const OnDevice data(pair_of(steps::basic(1)), bytes);
    EXPECT_EQ(gather(*data.stage(Direction::write, most), bytes, 1 << 30), data.packed());
    return driver.largest_pinned();
  };
  EXPECT_EQ(largest(1, kLargest), 64 << 10);
  EXPECT_EQ(largest(32 << 10, kLargest), 64 << 10);
  EXPECT_EQ(largest((32 << 10) + 1, kLargest), 128 << 10);
  EXPECT_EQ(largest(1 << 20, kLargest), kLargest);
  EXPECT_EQ(largest(5 << 20, kLargest), kLargest);
  EXPECT_EQ(largest(1 << 20, 300'000), 256 << 10);
  EXPECT_EQ(largest(100'000, 0), 4 << 10);
}

TEST(Staging, TellsWhereNoStreamIsToBeHad) {
  FakeDriver& driver = FakeDriver::installed();
  driver.reset_device();
  driver.set_streams(false);
  const auto [pair, count] = shapes().front();
  const OnDevice data(pair, count);
  for (const Direction direction : {Direction::write, Direction::read}) {
    const auto staging = data.stage(direction);
    EXPECT_TRUE(staging->open(0, 1).empty());
    EXPECT_NE(staging->failure().message.find("no stream"), std::string::npos);
    EXPECT_EQ(staging->failure().system_error, EFAULT);
    staging->flush();
    EXPECT_EQ(staging->done(), 0);
  }
  driver.set_streams(true);
}

TEST(Staging, NeedsNoPinnedMemory) {
  FakeDriver& driver = FakeDriver::installed();
  driver.set_pinned(false);
  const auto [pair, count] = shapes().back();
  const OnDevice data(pair, count);
  EXPECT_EQ(gather(*data.stage(Direction::write), data.bytes(), 1 << 30), data.packed());
  driver.set_pinned(true);
}

TEST(Image, HoldsTheDataWhereTheTypeHasIt) {
  for (const auto& [pair, count] : shapes()) {
    const OnDevice data(pair, count);
    const auto place = find_data(data.buffer(), data.type());
    ASSERT_TRUE(place);
    const auto made = Image::make(*place, data.buffer(), data.type(), count);
    ASSERT_TRUE(made);
    Image& image = *made.value();
    ASSERT_FALSE(image.load());
    const Numbers places = pair.model.repeated(count);
    const Bytes packed = data.packed();
    for (std::size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(view::memory_at(image.buffer(), places[i])[0], packed[i]) << i;
    }
    const Bytes read = other_data(data.bytes());
    for (std::size_t i = 0; i < places.size(); ++i) {
      view::memory_at(image.buffer(), places[i])[0] = read[i];
    }
    const ByteCount moved = data.bytes() / 2;
    ASSERT_FALSE(image.store(moved));
    ASSERT_EQ(data.content(), data.after(read, moved));
  }
}

TEST(Image, TellsOfACopyThatFails) {
  FakeDriver& driver = FakeDriver::installed();
  const auto [pair, count] = shapes().front();
  const OnDevice data(pair, count);
  const auto image = Image::make(*find(data.buffer() + data.type()->true_lower_bound()),
                                 data.buffer(), data.type(), count);
  ASSERT_TRUE(image);
  driver.fail(1, true);
  EXPECT_NE(image.value()->load().message.find("fake driver"), std::string::npos);
  EXPECT_FALSE(image.value()->load());
}

}  // namespace
}  // namespace headrace::device::test
