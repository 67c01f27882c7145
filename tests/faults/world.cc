#include "faults/world.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "faults/faulty_store.h"
#include "faults/system_calls.h"
#include "sim/disk.h"

namespace headrace::faults {
namespace {

class DiskWorld : public World {
 public:
  explicit DiskWorld(const Script& script) : disk_(script.delay_every) {
    strike_system_calls(false);
    disk_.put(kFileName, script.before);
    for (int rank = 0; rank < script.ranks(); ++rank) {
      files_.push_back(std::make_unique<FaultyFileSystem>(disk_.file_system(rank), rank));
    }
  }
  storage::FileSystem& files(int rank) override { return *files_[static_cast<std::size_t>(rank)]; }
  std::optional<Bytes> content() override { return disk_.content(kFileName); }

 private:
  sim::Disk disk_;
  std::vector<std::unique_ptr<FaultyFileSystem>> files_;
};

class RealWorld : public World {
 public:
  explicit RealWorld(const Script& script) {
    std::ofstream file(kFileName, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(script.before.data()), std::ssize(script.before));
    strike_system_calls(true);
  }
  ~RealWorld() override {
    strike_system_calls(false);
    unlink(kFileName);
  }
  storage::FileSystem& files(int) override { return storage::posix_file_system(); }
  std::optional<Bytes> content() override {
    std::ifstream file(kFileName, std::ios::binary);
    if (!file) return std::nullopt;
    return Bytes(std::istreambuf_iterator<char>(file), {});
  }
};

}  // namespace

std::unique_ptr<World> World::create(const Script& script) {
  if (script.layer == Layer::store) return std::make_unique<DiskWorld>(script);
  return std::make_unique<RealWorld>(script);
}

}  // namespace headrace::faults
