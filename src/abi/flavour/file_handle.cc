#include "abi/flavour/file_handle.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "abi/flavour/converted.h"
#include "abi/flavour/datatype.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// How many handles of closed files are remembered.
constexpr std::size_t kMaxClosed = 4096;

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<MPI_File, std::unique_ptr<OpenFile>> files;
  std::atomic<std::size_t> size = 0;  ///< size of `files`: programs without our files skip the lock
  std::atomic<std::uint64_t> changes =
      0;                        ///< changes of `files`: what a thread remembers is valid until one
  std::deque<MPI_File> closed;  ///< the oldest first
  std::atomic<std::size_t> closed_count = 0;

  void close(MPI_File handle) {
    if (closed.size() == kMaxClosed) closed.pop_front();
    // Without memory, the handle is not remembered.
    static_cast<void>(attempt([&]() -> Error {
      closed.push_back(handle);
      return {};
    }));
    closed_count = closed.size();
  }

  void reopen(MPI_File handle) {
    std::erase(closed, handle);
    closed_count = closed.size();
  }
};

Registry& registry() {
  static auto& only = *new Registry;  // never destroyed: calls arrive during exit too
  return only;
}

}  // namespace

OpenFile::~OpenFile() {
  file.reset();  // first, since it waits for calls that use what is held here
  release_type(etype);
  release_type(filetype);
  if (group != MPI_GROUP_NULL) native.Group_free(&group);
}

void FileLink::keep(Error error) {
  const std::lock_guard lock(mutex_);
  if (!kept_) kept_ = std::move(error);
}

Error FileLink::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(kept_, {});
}

OpenFile* find_file(MPI_File handle) {
  auto& own = registry();
  if (own.size.load(std::memory_order_acquire) == 0) return nullptr;
  // Most calls of a thread use the file of the call before.
  struct Last {
    std::uint64_t changes = 0;
    MPI_File handle{};
    OpenFile* file = nullptr;
  };
  [[gnu::tls_model("initial-exec")]] static thread_local constinit Last last;
  const std::uint64_t changes = own.changes.load(std::memory_order_acquire);
  if (last.file != nullptr && last.changes == changes && last.handle == handle) return last.file;
  const std::shared_lock lock(own.mutex);
  const auto found = own.files.find(handle);
  last = {changes, handle, found == own.files.end() ? nullptr : found->second.get()};
  return last.file;
}

OpenFile& add_file(MPI_File handle, std::unique_ptr<OpenFile> file) {
  auto& own = registry();
  OpenFile& added = *file;
  added.link->handle = handle;
  const std::unique_lock lock(own.mutex);
  own.reopen(handle);
  own.files[handle] = std::move(file);
  ++own.changes;
  own.size = own.files.size();
  return added;
}

std::unique_ptr<OpenFile> take_file(MPI_File handle) {
  auto& own = registry();
  const std::unique_lock lock(own.mutex);
  auto node = own.files.extract(handle);
  own.close(handle);
  ++own.changes;
  own.size = own.files.size();
  return node.empty() ? nullptr : std::move(node.mapped());
}

bool was_closed(MPI_File handle) {
  // What MPI_File_close leaves behind. Some libraries end the program here.
  if (handle == MPI_FILE_NULL) return true;
  auto& own = registry();
  if (own.closed_count.load(std::memory_order_acquire) == 0) return false;
  const std::shared_lock lock(own.mutex);
  return std::ranges::find(own.closed, handle) != own.closed.end();
}

void note_native_file(MPI_File handle) {
  auto& own = registry();
  if (own.closed_count.load(std::memory_order_acquire) == 0) return;
  const std::unique_lock lock(own.mutex);
  own.reopen(handle);
}

void drop_files() {
  auto& own = registry();
  std::unordered_map<MPI_File, std::unique_ptr<OpenFile>> dropped;
  {
    const std::unique_lock lock(own.mutex);
    dropped.swap(own.files);
    ++own.changes;
    own.size = 0;
  }
  for (auto& [handle, file] : dropped) {
    const SessionHold session = file->session;
    file.reset();
    MPI_File closed = handle;
    if (session != nullptr) native.File_close(&closed);  // it would outlive the session
  }
}

}  // namespace headrace::HEADRACE_FLAVOUR
