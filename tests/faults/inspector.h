#pragma once

#include <set>
#include <string>
#include <vector>

#include "faults/held_back.h"
#include "faults/script.h"
#include "faults/world.h"
#include "sim/runner.h"
#include "sim/views.h"
#include "steps/engine/driver.h"

namespace headrace::faults {

/// Of the data of all steps, beside their ids and salt.
inline constexpr std::uint64_t kDataSeed = 7;

/// What one rank got from a step.
struct Got : steps::Got {
  ByteCount begin = 0;     ///< where its data begins in the view; of an ordered call, of all
  bool is_staged = false;  ///< by the file's own account
};

/// Holds what ranks are told against the file: the contract on data. One thread at a time.
class Inspector {
 public:
  /// `shares_memory`: all ranks.
  Inspector(const Script& script, World& world, sim::Problems& problems);

  /// What struck before the file was opened.
  void note_lost_pointer(const std::vector<Struck>& struck);
  void set_sharing(bool shares_memory) { shares_memory_ = shares_memory; }
  /// All got a file or none.
  void check_open(const std::vector<Got>& got, const std::vector<Struck>& struck);
  void check(const Step& step, std::size_t number, const std::vector<Got>& got,
             const std::vector<Struck>& struck);
  void check_close(const std::vector<Got>& got, const std::vector<Struck>& struck);
  /// A sync that nothing strikes: all must learn here what they were not told.
  void check_final_sync(const std::vector<Got>& got);
  /// The file is as it is now; what comes next is judged from there.
  void look() { file_ = world_.content().value_or(Bytes{}); }

 private:
  using Strikes = std::vector<Struck>;

  void report(std::size_t rank, const std::string& problem);
  void check_access(const Step& step, const std::vector<Got>& got, const Strikes& struck);
  void check_count(const Step& step, std::size_t rank, const Got& got, const Strikes& struck);
  void check_ordered(const Step& step, std::vector<Got> got, const Bytes& now);
  void check_pointer(const Step& step, std::size_t rank, const Got& got);
  void check_verdicts(const Step& step, const std::vector<Got>& got, const Strikes& struck);
  void note_failures(const Step& step, const std::vector<Got>& got, const Bytes& now,
                     const Strikes& struck);
  std::string wrong_write(const Step& step, const std::vector<Got>& got, const Bytes& now) const;
  std::string wrong_read(const Step& step, const std::vector<Got>& got, const Bytes& now) const;
  bool lacks_pointer(const Step& step, const Got& got) const;
  bool may_fail(const Step& step, std::size_t rank, const Got& got, const Strikes& struck) const;
  ByteCount expected_bytes(const Step& step, std::size_t rank, ByteCount begin,
                           ByteCount file_end) const;
  /// All have one outcome; whether it is an error.
  bool check_common(const std::vector<Got>& got, const Strikes& struck, bool is_invalid);
  void check_size(const Step& step, const std::vector<Got>& got, const Strikes& struck);
  void check_sync(const std::vector<Got>& got, const Strikes& struck);
  bool others_failed(std::size_t rank) const;

  // With buffers (HEADRACE_IOBUF) all of these allow what calls may leave to a later one.
  void note_behind(const Strikes& struck);
  bool may_be_behind(std::size_t rank, ErrorClass error_class) const;
  bool is_held_back(const Step& step) const;
  bool may_become(const Bytes& now) const;
  bool may_be_there(FileOffset offset, const Bytes& now) const;
  bool may_read(const Got& got, std::size_t rank, FileOffset offset, std::uint8_t byte,
                const Bytes& now) const;
  bool may_count(const Step& step, std::size_t rank, const Got& got) const;
  void hold_back(const Step& step, const std::vector<Got>& got, const Strikes& struck);
  void hold_back_part(const Step& step, std::size_t rank, const Got& got, const Strikes& struck);
  void hold_back_ordered(const Step& step, const std::vector<Got>& got);
  void lose_what_failed(const Step& step, const std::vector<Got>& got, const Strikes& struck);
  void check_emptied(const std::vector<Got>& got, const Bytes& now);
  void check_held_size(const Step& step, const std::vector<Got>& got, const Bytes& now);

  const Script& script_;
  World& world_;
  sim::Problems& problems_;
  Bytes file_;
  std::vector<ViewMap> views_;
  std::vector<Memory> given_;  ///< of each rank: to the access that is looked at
  std::vector<int> failed_;    ///< of each rank: its writes that left data missing
  std::vector<int> known_;     ///< of each rank: others' failed writes it was told of
  /// Of each rank: with what classes failed writes of its own that it did not wait for may be told.
  std::vector<std::set<ErrorClass>> untold_;
  std::set<ErrorClass> failed_with_;  ///< what writes that may lack data have failed with
  bool may_have_failed_ = false;      ///< a write that nobody waited for
  bool shares_memory_ = false;
  const bool buffers_;  ///< small calls may stay in a rank's buffers
  bool is_atomic_ = false;
  HeldBack held_;
  /// Of each rank: with what classes a later call may tell that its buffers could not be written.
  std::vector<std::set<ErrorClass>> behind_;
  bool lost_pointer_ = false;  ///< perhaps: other nodes cannot ask for it
  std::string place_;
};

}  // namespace headrace::faults
