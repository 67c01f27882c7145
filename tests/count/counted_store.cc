#include "count/counted_store.h"

#include "count/counters.h"

namespace headrace::count {
namespace {

using storage::Store;
using storage::Transferred;

class CountedStore : public Store {
 public:
  CountedStore(std::unique_ptr<Store> inner, int calls_for_one)
      : inner_(std::move(inner)), calls_for_one_(calls_for_one) {}

  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    return move(&Store::read, kStoreReads, kBytesRead, offset, segments);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    return move(&Store::write, kStoreWrites, kBytesWritten, offset, segments);
  }
  Result<ByteCount> size() override { return other().size(); }
  Error resize(ByteCount size) override { return other().resize(size); }
  Error allocate(ByteCount size, ByteCount known) override { return other().allocate(size, known); }
  Error sync() override { return other().sync(); }
  Error lock(FileOffset begin, FileOffset end, storage::LockMode mode) override {
    return other().lock(begin, end, mode);
  }
  Result<bool> try_lock(FileOffset begin, FileOffset end, storage::LockMode mode) override {
    return other().try_lock(begin, end, mode);
  }
  Error close() override { return other().close(); }
  Error remove() override { return other().remove(); }

 private:
  using Move = Transferred (Store::*)(FileOffset, std::span<const iovec>);

  Transferred move(Move call, Counter calls, Counter bytes, FileOffset offset,
                   std::span<const iovec> segments) {
    Transferred done;
    for (int i = 0; i < calls_for_one_; ++i) {
      done = (*inner_.*call)(offset, segments);
      add(calls, 1);
      add(bytes, done.bytes);
      add(kSegments, std::ssize(segments));
    }
    return done;
  }

  Store& other() {
    add(kStoreOthers, 1);
    return *inner_;
  }

  std::unique_ptr<Store> inner_;
  int calls_for_one_;
};

}  // namespace

Result<std::unique_ptr<Store>> CountedFileSystem::open(const std::string& path,
                                                       storage::OpenFlags flags) {
  add(kStoreOthers, 1);
  Result<std::unique_ptr<Store>> opened = inner_.open(path, flags);
  if (!opened) return opened;
  return std::unique_ptr<Store>(
      std::make_unique<CountedStore>(std::move(opened.value()), calls_for_one_));
}

}  // namespace headrace::count
