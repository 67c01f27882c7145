#include "buffering/buffered_store.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/message.h"
#include "base/spelling.h"
#include "threads/helper_threads.h"

namespace headrace::buffering {
namespace {

/// The caches of open files, by their names for messages.
struct OpenCaches {
  std::timed_mutex mutex;  ///< guards what follows
  std::map<BlockCache*, const std::string*> names;
};

OpenCaches& open_caches() {
  static auto& instance = *new OpenCaches;  // never destroyed: files are closed during exit, too
  return instance;
}

void note_open(BlockCache& cache, const std::string& name) {
  OpenCaches& open = open_caches();
  const std::lock_guard lock(open.mutex);
  open.names.emplace(&cache, &name);
  [[maybe_unused]] static const int registered = std::atexit([] {
    // Calls that helper threads are about to execute write to blocks, too.
    threads::HelperThreads::of_process().rest();
    program_ends = true;
    settle_all();
  });
}

void note_closed(BlockCache& cache) {
  OpenCaches& open = open_caches();
  const std::lock_guard lock(open.mutex);
  open.names.erase(&cache);
}

void tell_lost(const std::string& name, ByteCount bytes) {
  print_message(std::to_string(bytes) + " bytes of '" + printable(name) +
                "' are lost (they were buffered, and cannot be written), close files before the "
                "program ends and check what MPI_File_close returns");
}

void tell_failed(const std::string& name, int error) {
  print_message("some of what was written to '" + printable(name) + "' may be lost (" +
                std::strerror(error) +
                "), close files before the program ends and check what MPI_File_close returns");
}

}  // namespace

ByteCount settle_all() noexcept {
  constexpr std::chrono::seconds kPatience{2};
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  OpenCaches& open = open_caches();
  const std::unique_lock lock(open.mutex, deadline);
  if (!lock) return 0;
  ByteCount lost = 0;
  for (const auto& [cache, name] : open.names) {
    const BlockCache::Unsettled left = cache->settle_until(deadline);
    lost += left.bytes;
    static_cast<void>(attempt([&]() -> Error {
      if (left.bytes > 0) tell_lost(*name, left.bytes);
      if (left.error != 0) tell_failed(*name, left.error);
      return {};
    }));
  }
  return lost;
}

BufferedStore::BufferedStore(std::unique_ptr<Store> inner, const BufferShape& shape,
                             std::string name)
    : ForwardingStore(std::move(inner)),
      name_(std::move(name)),
      is_verbose_(shape.is_verbose),
      cache_(std::make_shared<BlockCache>(ForwardingStore::inner(), shape)) {
  note_open(*cache_, name_);
}

/// A forked child has a copy of what its parent will write.
BufferedStore::~BufferedStore() {
  if (!process_.is_here()) return;
  note_closed(*cache_);
  if (const Error lost = settle()) print_message(lost.message);
  cache_->leave();
}

Error BufferedStore::error_of(int system_error) const {
  if (system_error == 0) return {};
  return system_failure(system_error, "cannot write what was buffered for", name_);
}

Error BufferedStore::settle() {
  return error_of(cache_->settle());
}

/// The file ends where its last byte is, also one that is held back.
Result<ByteCount> BufferedStore::size() {
  if (Error error = error_of(cache_->flush())) return error;
  return inner().size();
}

Error BufferedStore::resize(ByteCount size) {
  if (Error error = settle()) return error;
  return inner().resize(size);
}

Error BufferedStore::allocate(ByteCount size, ByteCount known) {
  if (Error error = settle()) return error;
  return inner().allocate(size, known);
}

Error BufferedStore::sync() {
  Error lost = settle();
  Error failed = inner().sync();
  return lost ? lost : failed;
}

Error BufferedStore::close() {
  Error lost = settle();
  cache_->leave();
  Error failed = inner().close();
  return lost ? lost : failed;
}

Result<std::unique_ptr<storage::Store>> BufferedStore::reopen_to_read() {
  if (Error error = settle()) return error;
  return inner().reopen_to_read();
}

}  // namespace headrace::buffering
