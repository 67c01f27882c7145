#include "sim/lying_files.h"

#include <vector>

namespace headrace::sim {
namespace {

class LyingStore : public storage::Store {
 public:
  LyingStore(std::unique_ptr<storage::Store> store, LiePlan& plan)
      : store_(std::move(store)), plan_(plan) {}

  storage::Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    return store_->read(offset, segments);
  }
  storage::Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    std::vector<std::uint8_t> data;
    for (const iovec& segment : segments) {
      const auto* const bytes = static_cast<const std::uint8_t*>(segment.iov_base);
      data.insert(data.end(), bytes, bytes + segment.iov_len);
    }
    if (data.empty() || plan_.writes++ != plan_.nth) return store_->write(offset, segments);
    if (plan_.lie == Lie::corrupt) data[data.size() / 2] ^= 0x10;
    const auto len = static_cast<std::size_t>(
        plan_.lie == Lie::misplace ? std::max<std::size_t>(1, data.size() / 2) : data.size());
    const iovec changed{data.data(), len};
    if (plan_.lie != Lie::drop) {
      static_cast<void>(
          store_->write(offset + (plan_.lie == Lie::misplace ? 512 : 0), {&changed, 1}));
    }
    return {static_cast<ByteCount>(data.size()), 0};
  }
  Result<ByteCount> size() override { return store_->size(); }
  Error resize(ByteCount size) override { return store_->resize(size); }
  Error allocate(ByteCount size) override { return store_->allocate(size); }
  Error sync() override { return store_->sync(); }
  Error lock(FileOffset begin, FileOffset end, storage::LockMode mode) override {
    return store_->lock(begin, end, mode);
  }
  Result<bool> try_lock(FileOffset begin, FileOffset end, storage::LockMode mode) override {
    return store_->try_lock(begin, end, mode);
  }
  Result<std::unique_ptr<storage::Store>> reopen_to_read() override {
    return store_->reopen_to_read();
  }
  storage::Layout layout() override { return store_->layout(); }
  Error close() override { return store_->close(); }
  Error remove() override { return store_->remove(); }

 private:
  std::unique_ptr<storage::Store> store_;
  LiePlan& plan_;
};

class LyingFileSystem : public storage::FileSystem {
 public:
  LyingFileSystem(storage::FileSystem& files, LiePlan& plan) : files_(files), plan_(plan) {}

  Result<std::unique_ptr<storage::Store>> open(const std::string& path,
                                               storage::OpenFlags flags) override {
    auto opened = files_.open(path, flags);
    if (!opened) return opened.error();
    return std::unique_ptr<storage::Store>(
        std::make_unique<LyingStore>(std::move(opened.value()), plan_));
  }

 private:
  storage::FileSystem& files_;
  LiePlan& plan_;
};

}  // namespace

std::unique_ptr<storage::FileSystem> lying_files(storage::FileSystem& files, LiePlan& plan) {
  return std::make_unique<LyingFileSystem>(files, plan);
}

}  // namespace headrace::sim
