// One rank's side of one file of a fuzzer's program, by the real calls.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/observations.h"
#include "fuzz/real_file.h"
#include "fuzz_types.h"

namespace headrace::fuzz {

/// Takes the steps of one file on this rank and keeps what it saw.
class FuzzFile {
 public:
  /// `comm`: of the group alone; freed at the end of this.
  FuzzFile(const Program& program, const Group& group, int rank, MPI_Comm comm,
           const std::string& directory);
  ~FuzzFile();
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;

  void open_first();  ///< collective, as are all steps of which MPI says so
  void take(const Step& step);
  void close_last();

  const std::map<int, Seen>& seen() const { return seen_; }
  /// By step id; what the first rank of the group alone has.
  const std::map<int, Image>& images() const { return images_; }
  const std::string& group_name() const { return group_.name; }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  /// An access under way, or just done: what must live as long as it does.
  struct Access {
    const Step* step = nullptr;
    Memory memory;
    MpiType type;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  const Part& part(const Step& step) const;
  bool is_first() const { return rank_ == group_.ranks.front(); }
  int open(const Mode& mode, const Hints& hints);
  void look(int id);
  void meet();

  int carry_out(const Step& step, Seen& seen);
  int access(const Step& step, Seen& seen);
  int end(const Step& step);
  int set_view(const Step& step);
  int reopen(const Step& step);
  int query(const Step& step, Seen& seen);
  void wait(const Step& step);
  void complete(int id, int code, MPI_Status& status);
  void wait_for_all(const std::vector<int>& ids, Completion completion);
  void wait_for_any(const std::vector<int>& ids, bool blocking);
  void wait_for_some(const std::vector<int>& ids, bool blocking);

  const Program& program_;
  const Group group_;
  const int rank_;
  MPI_Comm comm_;
  const std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
  Mode mode_;
  bool atomic_ = false;
  std::optional<Access> split_;
  std::map<int, Access> accesses_;
  std::map<int, Seen> seen_;
  std::map<int, Image> images_;
  std::vector<std::string> problems_;
};

}  // namespace headrace::fuzz
