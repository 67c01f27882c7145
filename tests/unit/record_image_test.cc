#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "record/clock.h"
#include "record/image_reader.h"
#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::record {
namespace {

using Bytes = std::vector<std::byte>;

void fill(MadeImage& made) {
  const std::uint32_t world = made.world(2);
  for (int i = 0; i < 3; ++i) made.call("MPI_Send", CallClass::point_to_point, world, 100, 10);
  made.call("MPI_Barrier", CallClass::collective, world, 0, 20);
  made.thread->add_message(1, 300);
  made.file("out.dat").opens = 1;
  made.note(NoteKind::fact, {"host", "n0"});
  made.decision({"a", "b", "c", "d"}, 2000, {1, 5});
  made.note(NoteKind::setting, {"HEADRACE_QUIET", "1", "default"});
  made.note(NoteKind::function, {"f", "f.py"});
  made.finish();
}

Bytes bytes_of(MadeImage& made) {
  const auto* const first = reinterpret_cast<const std::byte*>(&made.image->header());
  return {first, first + made.image->header().size};
}

/// What a user of an image relies on.
void check_references(const Image& image) {
  for (const auto& [number, thread] : image.threads()) {
    for (const Row& row : thread.rows) {
      ASSERT_TRUE(row.path == kNone || row.path < thread.frames.size());
      ASSERT_TRUE(row.procedure == kNone ||
                  row.procedure < image.notes(NoteKind::procedure).size());
    }
    for (std::size_t i = 0; i < thread.frames.size(); ++i) {
      ASSERT_TRUE(thread.frames[i].caller == kNone || thread.frames[i].caller < i);
    }
  }
}

/// Whatever it is, a record is made of it or it is refused.
bool use(Bytes bytes) {
  Result<Image> image = Image::parse(std::move(bytes));
  if (!image) {
    EXPECT_FALSE(image.error().message.empty());
    return false;
  }
  check_references(image.value());
  const NodeRecord made = make_node_record({&image.value(), 1}, 0, {2'000'000, 1'000'000});
  for (const auto& [table, rows] : unpack(made.sections)) {
    for (const UnpackedColumn& column : rows.columns) {
      for (const std::int64_t value : column.values) EXPECT_GE(value, -2);
    }
  }
  return true;
}

class Images : public ::testing::Test {
 protected:
  PrivateFolder folder_;
  MadeImage made_{folder_.path, "job", 1, 2};
};

TEST_F(Images, HoldWhatWasPutIn) {
  fill(made_);
  const Result<Image> read = Image::read(made_.image->path());
  ASSERT_TRUE(read) << read.error().message;
  const Image& image = read.value();
  EXPECT_EQ(image.header().rank, 1);
  EXPECT_EQ(image.state(), RankState::finalized);
  EXPECT_EQ(image.fact("host"), "n0");
  EXPECT_EQ(image.fact("mpi"), "");
  ASSERT_EQ(image.threads().size(), 1U);
  const Image::Thread& thread = image.threads().at(0);
  EXPECT_EQ(thread.totals.calls, 4);
  ASSERT_EQ(thread.rows.size(), kCallClasses + 2U);
  const Row& sends = thread.rows[kCallClasses];
  EXPECT_EQ(image.field(NoteKind::procedure, sends.procedure, 0), "MPI_Send");
  EXPECT_EQ(image.field(NoteKind::communicator, sends.communicator, 3), "MPI_COMM_WORLD");
  EXPECT_EQ(sends.calls, 3);
  EXPECT_EQ(sends.sent, 300);
  EXPECT_NE(sends.path, kNone);
  EXPECT_GE(thread.frames.size(), 2U);
  ASSERT_EQ(thread.peers.size(), 2U);
  EXPECT_EQ(thread.peers[1].rank, 1);
  ASSERT_EQ(image.files().size(), 1U);
  EXPECT_EQ(image.field(NoteKind::file, image.files()[0].name, 0), "out.dat");
  EXPECT_EQ(image.field(NoteKind::file, image.files()[0].name, 7), "");
  EXPECT_EQ(image.field(NoteKind::file, kNone, 0), "");
}

TEST_F(Images, AreReadWhileTheyGrow) {
  const Result<Image> early = Image::read(made_.image->path());
  ASSERT_TRUE(early) << early.error().message;
  EXPECT_EQ(early.value().state(), RankState::running);
  fill(made_);
  EXPECT_EQ(Image::read(made_.image->path()).value().threads().at(0).totals.calls, 4);
}

TEST_F(Images, AreRefusedBeforeTheyAreImages) {
  made_.image->header().magic = {};
  const Result<Image> read = Image::read(made_.image->path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "it is no recorder's memory (it begins otherwise, or not yet)");
  EXPECT_FALSE(Image::read(folder_.path + "/none"));
  EXPECT_FALSE(Image::read(folder_.path));
}

TEST_F(Images, AreRefusedIfTheyAreNotPlainFilesOfThisUser) {
  const std::string path = made_.image->path();
  ASSERT_EQ(::symlink(path.c_str(), (path + "-link").c_str()), 0);
  EXPECT_FALSE(Image::read(path + "-link"));
  ASSERT_EQ(::mkfifo((path + "-pipe").c_str(), 0600), 0);
  EXPECT_FALSE(Image::read(path + "-pipe")) << "and nobody waits for its other end";
  if (::chown(path.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_EQ(Image::read(path).error().message,
            "it is no recorder's memory (it belongs to another user)");
}

TEST_F(Images, ThatAreCutOffAreRefused) {
  fill(made_);
  const Bytes whole = bytes_of(made_);
  ASSERT_TRUE(use(whole));
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    use(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
  }
  const std::string path = made_.image->path();
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(whole.size() / 2)), 0);
  EXPECT_EQ(Image::read(path).error().message, "it is no recorder's memory (it is cut off)");
  made_.image.reset();
}

TEST_F(Images, WithWrongBytesDoNoHarm) {
  fill(made_);
  const Bytes whole = bytes_of(made_);
  std::mt19937 random(3);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes changed = whole;
    for (auto left = 1 + random() % 4; left > 0; --left) {
      // Most of an image is room that is not used, so its front gets more than its share.
      const std::size_t most = random() % 2 == 0 ? 1024 : changed.size();
      changed[random() % most] = static_cast<std::byte>(random() % 3 == 0 ? 0xff : random());
    }
    taken += use(std::move(changed)) ? 1 : 0;
  }
  EXPECT_GT(taken, 1000);
  EXPECT_LT(taken, 20'000);
}

TEST_F(Images, WithWrongWordsDoNoHarm) {
  fill(made_);
  const Bytes whole = bytes_of(made_);
  constexpr std::uint32_t kWords[] = {0, 1, 8, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
  for (std::size_t place = 0; place + 4 <= whole.size(); place += 4) {
    for (const std::uint32_t word : kWords) {
      Bytes changed = whole;
      std::memcpy(changed.data() + place, &word, 4);
      use(std::move(changed));
    }
  }
}

}  // namespace
}  // namespace headrace::record
