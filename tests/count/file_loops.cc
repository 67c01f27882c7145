#include <cstdio>
#include <cstdlib>
#include <memory>

#include "count/hot_loops.h"
#include "count/shapes.h"
#include "file/file.h"
#include "sim/ranks.h"
#include "unit/bare_store.h"

namespace headrace::count {
namespace {

using file::File;
using storage::bytes_of;
using storage::Transferred;

/// Takes and gives any bytes without touching them.
class NullStore : public BareStore {
 public:
  Transferred read(FileOffset, std::span<const iovec> segments) override {
    return {bytes_of(segments), 0};
  }
  Transferred write(FileOffset, std::span<const iovec> segments) override {
    return {bytes_of(segments), 0};
  }
};

class NullFileSystem : public storage::FileSystem {
 public:
  Result<std::unique_ptr<storage::Store>> open(const std::string&, storage::OpenFlags) override {
    return std::unique_ptr<storage::Store>(std::make_unique<NullStore>());
  }
};

void expect(const Error& error) {
  if (!error) return;
  std::fprintf(stderr, "count: %s\n", error.message.c_str());
  std::exit(2);
}

/// A file on all ranks, which are threads while it is opened and its views are set. Afterwards one
/// thread may make the calls of several ranks, in an order in which none waits.
class OpenedFile {
 public:
  OpenedFile(int ranks, const file::Hints& hints, const std::function<Shape(int rank)>& shape)
      : office_(ranks), disk_(0), files_(static_cast<std::size_t>(ranks)) {
    const std::vector<std::string> nodes(static_cast<std::size_t>(ranks), "node");
    run_ranks(office_, nodes, disk_,
              [&](int rank, const std::shared_ptr<exchange::FileTeam>& team, storage::FileSystem&) {
                file::AccessMode mode;
                mode.read = mode.write = mode.create = true;
                std::unique_ptr<File>& file = files_[static_cast<std::size_t>(rank)];
                file = std::move(File::open(team, file_system_, "file", mode, hints).value());
                const Shape seen = shape(rank);
                const view::TypePtr etype = view::make_basic(1);
                expect(file->set_view(file::View{seen.displacement, etype, seen.filetype}));
              });
  }
  /// No close: it would wait for other ranks.
  ~OpenedFile() = default;

  File& of(int rank) { return *files_[static_cast<std::size_t>(rank)]; }

 private:
  sim::PostOffice office_;
  sim::Disk disk_;
  NullFileSystem file_system_;
  std::vector<std::unique_ptr<File>> files_;
};

/// `bytes` bytes of contiguous memory from the beginning of the view.
struct Call {
  explicit Call(ByteCount bytes) : memory(static_cast<std::size_t>(bytes)) {
    call.offset = 0;
    call.buffer = memory.data();
    call.count = bytes;
    call.type = view::make_basic(1);
  }

  std::vector<std::byte> memory;
  file::TransferCall call;
};

constexpr std::int64_t kCalls = 200;

HotLoop contiguous_loop(const std::string& name, bool is_collective, Direction direction) {
  const auto file = std::make_shared<OpenedFile>(
      2, file::Hints{}, [](int rank) { return contiguous(10'000, 1, rank); });
  const auto call = std::make_shared<Call>(10'000);
  call->call.collective = is_collective;
  call->call.direction = direction;
  return {"contiguous_" + name, "call", kCalls, [=] {
            for (std::int64_t i = 0; i < kCalls; ++i)
              expect(file->of(0).transfer(call->call).error);
          }};
}

/// Calls in which 2 ranks meet, all data being the first one's: a rank without data posts and
/// leaves. Of few bytes, so that planning is what costs.
HotLoop meeting_loop(const std::string& name, const std::string& path, Direction direction) {
  const file::Hints hints{{"headrace_write_path", path}, {"headrace_read_path", path}};
  constexpr ByteCount kBytes = 16 * 64;
  const auto file = std::make_shared<OpenedFile>(
      2, hints, [](int rank) { return tile(2 * kBytes, 64, rank, 2); });
  const auto call = std::make_shared<Call>(kBytes);
  call->call.collective = true;
  call->call.direction = direction;
  return {"meeting_" + name, "call", kCalls, [=] {
            file::TransferCall nothing = call->call;
            nothing.count = 0;
            for (std::int64_t i = 0; i < kCalls; ++i) {
              expect(file->of(1).transfer(nothing).error);
              expect(file->of(0).transfer(call->call).error);
            }
          }};
}

HotLoop independent_loop(const std::string& name, Direction direction) {
  constexpr std::int64_t kPieces = 2'000;
  const auto file = std::make_shared<OpenedFile>(
      1, file::Hints{}, [](int) { return tile(2 * kPieces * 64, 64, 0, 2); });
  const auto call = std::make_shared<Call>(kPieces * 64);
  call->call.direction = direction;
  return {"independent_" + name, "piece", kPieces,
          [=] { expect(file->of(0).transfer(call->call).error); }};
}

}  // namespace

void add_file_loops(std::vector<HotLoop>& loops) {
  loops.push_back(contiguous_loop("write_at", false, Direction::write));
  loops.push_back(contiguous_loop("write_at_all", true, Direction::write));
  loops.push_back(contiguous_loop("read_at_all", true, Direction::read));
  loops.push_back(meeting_loop("staged_write", "staged", Direction::write));
  loops.push_back(meeting_loop("staged_read", "staged", Direction::read));
  loops.push_back(meeting_loop("write", "automatic", Direction::write));
  loops.push_back(independent_loop("write", Direction::write));
  loops.push_back(independent_loop("read", Direction::read));
}

std::vector<HotLoop> hot_loops() {
  std::vector<HotLoop> loops;
  add_view_loops(loops);
  add_plan_loops(loops);
  add_collective_loops(loops);
  add_file_loops(loops);
  return loops;
}

}  // namespace headrace::count
