#include "sim/lying_files.h"

#include <vector>

#include "storage/forwarding_store.h"

namespace headrace::sim {
namespace {

class LyingStore : public storage::ForwardingStore {
 public:
  LyingStore(std::unique_ptr<storage::Store> store, LiePlan& plan)
      : ForwardingStore(std::move(store)), plan_(plan) {}

  storage::Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    std::vector<std::uint8_t> data;
    for (const iovec& segment : segments) {
      const auto* const bytes = static_cast<const std::uint8_t*>(segment.iov_base);
      data.insert(data.end(), bytes, bytes + segment.iov_len);
    }
    if (data.empty() || plan_.writes++ != plan_.nth) return inner().write(offset, segments);
    if (plan_.lie == Lie::corrupt) data[data.size() / 2] ^= 0x10;
    const auto len = static_cast<std::size_t>(
        plan_.lie == Lie::misplace ? std::max<std::size_t>(1, data.size() / 2) : data.size());
    const iovec changed{data.data(), len};
    if (plan_.lie != Lie::drop) {
      static_cast<void>(
          inner().write(offset + (plan_.lie == Lie::misplace ? 512 : 0), {&changed, 1}));
    }
    return {static_cast<ByteCount>(data.size()), 0};
  }

 private:
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
