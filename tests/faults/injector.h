#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "faults/fault.h"

namespace headrace::faults {

/// While it lives, what this thread does is the engine's doing, for `rank`, and may be struck.
class InEngine {
 public:
  explicit InEngine(int rank);
  ~InEngine();
  InEngine(const InEngine&) = delete;
  InEngine& operator=(const InEngine&) = delete;

 private:
  int rank_before_;
  bool was_inside_;
};

/// While it lives, this thread does the simulation's work: nothing strikes it.
class OutsideEngine {
 public:
  OutsideEngine();
  ~OutsideEngine();
  OutsideEngine(const OutsideEngine&) = delete;
  OutsideEngine& operator=(const OutsideEngine&) = delete;

 private:
  bool was_inside_;
};

bool is_in_engine();
int rank_of_thread();  ///< -1 in helper threads

/// What an operation must do that is struck: fail by `system_error`, or go on where that is 0,
/// after `bytes` are moved.
struct Strike {
  Kind kind = Kind::eio;
  int system_error = 0;
  ByteCount bytes = 0;
};

/// Decides which operations of this process fail. Safe from several threads.
class Injector {
 public:
  static Injector& instance();

  void arm(std::vector<Fault> faults);
  /// Returns which of the faults struck.
  std::vector<bool> disarm();
  /// Nothing strikes until resume(); faults go on counting where they were.
  void suspend() { is_active_ = false; }
  void resume() { is_active_ = true; }

  /// Whether this operation on `len` bytes is struck. Slow ones are delayed here.
  std::optional<Strike> strike(Operation operation, int rank, ByteCount len);
  /// What has struck since the last call.
  std::vector<Struck> take_struck();

 private:
  struct Armed {
    Fault fault;
    std::int64_t seen = 0;
    int rank = -1;  ///< struck first
    bool has_struck = false;
  };
  static bool hits(Armed& armed, int rank);

  std::atomic<bool> is_active_ = false;
  std::mutex mutex_;  ///< guards what follows
  std::vector<Armed> armed_;
  std::vector<Struck> struck_;
  std::int64_t delays_ = 0;
  std::map<std::pair<Operation, int>, bool> interrupted_;  ///< a rank's last operation of a kind
};

}  // namespace headrace::faults
