#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <map>
#include <new>
#include <optional>
#include <thread>

#include "sim/allocations.h"
#include "sim/runner.h"

// A write that failed is told once, whatever memory lacks: by what asks for it, else by the file's
// next sync or close.

namespace headrace::sim {
namespace {

constexpr file::AccessMode kReadWriteCreate{.read = true, .write = true, .create = true};
constexpr int kErrnos[] = {EFBIG, EIO, ENOSPC, EACCES, EDQUOT, ESTALE};
/// More than any of these calls makes.
constexpr std::int64_t kAllocations = 12;

file::TransferCall write_of(Bytes& data, bool collective = false) {
  return {Direction::write, collective, 0, data.data(), std::ssize(data), view::make_basic(1)};
}

/// What a program is told by calls whose thread lacks memory.
class Told {
 public:
  /// `allocations`: of each call, those that succeed; none: all do.
  template <class Call>
  ErrorClass by(Call call, std::optional<std::int64_t> allocations = {}) {
    ErrorClass told = ErrorClass::no_memory;
    try {
      std::optional<Lacking> lacking;
      if (allocations) lacking.emplace(*allocations);
      told = Error(call()).error_class;
    } catch (const std::bad_alloc&) {
    }
    if (told != ErrorClass::success) times_[told] += 1;
    return told;
  }

  int times(ErrorClass error_class) const {
    const auto found = times_.find(error_class);
    return found == times_.end() ? 0 : found->second;
  }

 private:
  std::map<ErrorClass, int> times_;
};

/// A write that goes on by itself, and has failed when this returns.
std::shared_ptr<file::Operation> start_failing(file::File& file, Disk& disk, int system_error,
                                               Bytes& data) {
  disk.arm({.operation = Operation::write, .system_error = system_error});
  auto started = file.start(write_of(data));
  EXPECT_TRUE(started) << started.error().message;
  while (!started.value()->is_done()) std::this_thread::yield();
  EXPECT_EQ(disk.disarm(), 1);
  return std::move(started.value());
}

using Job = std::function<void(file::File& file, Disk& disk, int system_error, Told& told)>;

/// On one rank with a view: what a program is told of one failed write, exactly once.
void expect_told_once(const Job& job) {
  for (const int system_error : kErrnos) {
    Disk disk(0);
    run_ranks({"a"}, disk, [&](int, const auto& team, storage::FileSystem& files) {
      auto file = file::File::open(team, files, "a file with a long name", kReadWriteCreate, {});
      ASSERT_TRUE(file) << file.error().message;
      const view::TypePtr word = view::make_basic(4);
      ASSERT_FALSE(file.value()->set_view(file::View{8, word, view::make_resized(word, 0, 12)}));
      Told told;
      job(*file.value(), disk, system_error, told);
      told.by([&] { return file.value()->sync(); });
      told.by([&] { return file.value()->close(); });
      EXPECT_EQ(told.times(class_of_system_error(system_error)), 1) << "errno " << system_error;
    });
  }
}

TEST(Untold, ASyncTellsWhatNobodyWaitedFor) {
  for (std::int64_t allocations = 0; allocations < kAllocations; ++allocations) {
    for (const bool is_kept : {false, true}) {
      expect_told_once([&](file::File& file, Disk& disk, int system_error, Told& told) {
        Bytes data(400);
        auto operation = start_failing(file, disk, system_error, data);
        if (!is_kept) operation.reset();
        told.by([&] { return file.sync(); }, allocations);
      });
    }
  }
}

TEST(Untold, ACloseTellsWhatNobodyWaitedFor) {
  for (std::int64_t allocations = 0; allocations < kAllocations; ++allocations) {
    for (const int system_error : kErrnos) {
      Disk disk(0);
      run_ranks({"a"}, disk, [&](int, const auto& team, storage::FileSystem& files) {
        auto file = file::File::open(team, files, "a file with a long name", kReadWriteCreate, {});
        ASSERT_TRUE(file) << file.error().message;
        Bytes data(400);
        start_failing(*file.value(), disk, system_error, data);
        Told told;
        EXPECT_EQ(told.by([&] { return file.value()->close(); }, allocations),
                  class_of_system_error(system_error));
      });
    }
  }
}

TEST(Untold, WhoWaitsIsToldAndNobodyElse) {
  for (std::int64_t allocations = 0; allocations < kAllocations; ++allocations) {
    expect_told_once([&](file::File& file, Disk& disk, int system_error, Told& told) {
      Bytes data(400);
      const auto operation = start_failing(file, disk, system_error, data);
      const auto wait = [&] { return operation->wait().error; };
      EXPECT_EQ(told.by(wait, allocations), class_of_system_error(system_error));
    });
  }
}

TEST(Untold, TheEndOfASplitCallTells) {
  for (std::int64_t allocations = 0; allocations < kAllocations; ++allocations) {
    expect_told_once([&](file::File& file, Disk& disk, int system_error, Told& told) {
      Bytes data(400);
      disk.arm({.operation = Operation::write, .system_error = system_error});
      ASSERT_FALSE(file.begin(write_of(data, true)));
      const auto end = [&] { return file.end(Direction::write, false, true).error; };
      EXPECT_EQ(told.by(end, allocations), class_of_system_error(system_error));
      disk.disarm();
    });
  }
}

/// Of several the oldest is told, and the others count as told; those waited for do not count.
TEST(Untold, TheOldestIsToldOfThoseNobodyWaitedFor) {
  Disk disk(0);
  run_ranks({"a"}, disk, [&](int, const auto& team, storage::FileSystem& files) {
    auto file = file::File::open(team, files, "file", kReadWriteCreate, {});
    ASSERT_TRUE(file) << file.error().message;
    Bytes data(400);
    const auto waited_for = start_failing(*file.value(), disk, EIO, data);
    start_failing(*file.value(), disk, ENOSPC, data);
    const auto kept = start_failing(*file.value(), disk, EDQUOT, data);
    start_failing(*file.value(), disk, EACCES, data);
    EXPECT_EQ(waited_for->wait().error.error_class, ErrorClass::io);
    const Error told = file.value()->sync();
    EXPECT_EQ(told.error_class, ErrorClass::no_space);
    EXPECT_EQ(told.system_error, ENOSPC);
    EXPECT_EQ(told.message,
              "a nonblocking write failed: cannot write to 'file' (No space left on device), free "
              "some space or write elsewhere");
    EXPECT_FALSE(file.value()->sync());
    EXPECT_EQ(kept->wait().error.error_class, ErrorClass::quota) << "who asks is told";
    EXPECT_FALSE(file.value()->close());
  });
}

/// Ranks of the node learn of it once, by their next sync or their close.
TEST(Untold, OtherRanksAreToldOnce) {
  for (std::int64_t allocations = 0; allocations < kAllocations; ++allocations) {
    for (const int system_error : kErrnos) {
      Disk disk(0);
      std::barrier meeting(2);
      run_ranks({"a", "a"}, disk, [&](int rank, const auto& team, storage::FileSystem& files) {
        auto file = file::File::open(team, files, "a file with a long name", kReadWriteCreate, {});
        ASSERT_TRUE(file) << file.error().message;
        Bytes data(400);
        if (rank == 0) start_failing(*file.value(), disk, system_error, data);
        meeting.arrive_and_wait();
        Told told;
        told.by([&] { return file.value()->sync(); }, allocations);
        told.by([&] { return file.value()->sync(); });
        told.by([&] { return file.value()->close(); });
        EXPECT_EQ(told.times(class_of_system_error(system_error)), 1)
            << "rank " << rank << ", errno " << system_error;
      });
    }
  }
}

}  // namespace
}  // namespace headrace::sim
