#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fuzz/footprint.h"
#include "fuzz/model.h"
#include "fuzz/program.h"

namespace headrace::fuzz {

/// Why a file must not be opened so, or empty.
std::string problem_of_open(const World& world, const Mode& mode);

/// Decides whether the outcome of calls on one file is defined: MPI's rules for the use of a file,
/// conflicting accesses of different ranks separated by a meeting or done in atomic mode, and no
/// more orders than can be tried.
class GroupRules {
 public:
  GroupRules(const Program& program, Group group);

  /// Why the group must not take the step now; or nothing, and it is taken. A step that is refused
  /// leaves this unusable: copy it first.
  std::string take(const Step& step);
  /// Why the file must not be closed now.
  std::string must_not_close() const;

  const Group& group() const { return group_; }
  const FileState& state() const { return state_; }
  const World& world() const { return world_; }  ///< one of those that are possible
  /// Ids of a rank's requests that were not completed yet. Ranks are numbered within the group.
  const std::vector<int>& requests(std::size_t rank) const { return requests_[rank]; }
  const Step* split() const { return split_.get(); }
  /// Calls were taken whose order is open: a look at the file tells it.
  bool has_open_order() const {
    return has_conflict_ || shared_ranks_.size() > 1 || unsettled_ > 0;
  }

 private:
  static constexpr int kSeveral = -1;  ///< stands for any rank

  struct Touch {
    int rank = kSeveral;
    bool writes = false;
    bool in_flight = false;
    int id = 0;
    bool is_plain = false;  ///< blocking, not shared: atomic mode orders it
    Footprint bytes;
  };

  std::string access(const Step& step);
  std::string access_of_rank(const Step& step, std::size_t rank, std::int64_t before);
  std::string access_of_shared_pointer(const Step& step, const Call& call, Touch& touch);
  std::string touch(Touch touch, const Step& step);
  std::string grow_or_ask(const Touch& touch, bool is_blocking);
  std::string ask_size(int rank);
  std::string wait(const Step& step);
  std::string end(const Step& step);
  std::string query(const Step& step);
  std::string together(const Step& step);
  std::string set_view(const Step& step);
  std::string seek_all(const Step& step);
  std::string reopen(const Step& step);
  void meet(bool looks);
  void leave_shared_order();
  void complete(int id, int rank);
  bool has_requests() const;
  const Part& part(const Step& step, std::size_t rank) const;

  Group group_;
  FileState state_;
  World world_;
  std::vector<std::vector<int>> requests_;
  std::set<int> growing_requests_;
  std::shared_ptr<const Step> split_;

  // Since the ranks last met.
  std::vector<Touch> touched_;
  std::int64_t settled_size_ = 0;
  std::set<int> growers_;
  std::set<int> askers_;
  std::set<int> shared_askers_;
  bool size_was_set_ = false;
  bool has_conflict_ = false;  ///< in atomic mode
  int plain_accesses_ = 0;

  // Accesses by the shared pointer whose order is open.
  std::set<int> shared_ranks_;
  std::int64_t shared_start_ = 0;
  int shared_accesses_ = 0;
  bool shared_reads_ = false;
  bool shared_writes_ = false;
  bool shared_in_flight_ = false;
  int unsettled_ = 0;  ///< earlier writes by it whose order no look at the file has told
};

}  // namespace headrace::fuzz
