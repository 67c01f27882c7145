#include "fuzz/sim/files.h"

#include <unistd.h>

#include <vector>

#include "fuzz/real_file.h"
#include "fuzz/sim/short_calls.h"
#include "sim/disk.h"

namespace headrace::fuzz {
namespace {

class DiskFiles : public Files {
 public:
  explicit DiskFiles(const Program& program) : disk_(program.delay_every, program.chunk) {
    for (int rank = 0; rank < program.ranks(); ++rank) {
      file_systems_.push_back(disk_.file_system(rank));
    }
  }

  storage::FileSystem& file_system(int rank) override {
    return *file_systems_[static_cast<std::size_t>(rank)];
  }
  void put(const std::string& name, const sim::Content& content) override {
    disk_.put(name, content);
  }
  Look look(const std::string& name) override { return disk_.sparse_content(name); }

 private:
  sim::Disk disk_;
  std::vector<std::unique_ptr<storage::FileSystem>> file_systems_;
};

class RealFiles : public Files {
 public:
  explicit RealFiles(const Program& program) {
    for (const Group& group : groups_of(program)) unlink(group.name.c_str());
    cut_calls_short(program.seed);
  }
  ~RealFiles() override { let_calls_through(); }

  storage::FileSystem& file_system(int) override { return storage::posix_file_system(); }
  void put(const std::string& name, const sim::Content& content) override {
    write_content(name, content);
  }
  Look look(const std::string& name) override { return look_at(image_of(name)); }
};

}  // namespace

std::unique_ptr<Files> Files::create(const Program& program) {
  if (program.on_real_files) return std::make_unique<RealFiles>(program);
  return std::make_unique<DiskFiles>(program);
}

}  // namespace headrace::fuzz
