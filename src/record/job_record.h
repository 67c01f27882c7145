#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/exit_lines.h"
#include "record/node_tables.h"
#include "record/record_file.h"

namespace headrace::record {

/// What the images of one node gave.
struct GatheredNode {
  NodeRecord record;
  /// Those that were left out, each with the reason: "PATH: why".
  std::vector<std::string> left_out;
};

/// A node's part as bytes, to be sent to the rank that writes the record.
std::string pack_node(const GatheredNode& node);
/// An error where the bytes are cut off or do not fit together.
Result<GatheredNode> unpack_node(std::string_view bytes);

/// A directory for records.
struct RecordPlace {
  std::string path;
  bool is_private = false;  ///< it lies where all users write: only if it is this user's alone
  /// Nobody chose it: where the user may not write there is no record, and no other place is tried.
  bool is_default = false;
};

/// Which jobs leave a record. One that did not come to its end does in any case.
struct KeptJobs {
  std::int64_t shortest = 0;  ///< ns: those that ran as long
  bool has_idle = true;       ///< also one of a single rank that moved no data
};
bool is_kept(const JobSummary& job, const KeptJobs& kept);

struct WrittenRecord {
  std::string path;     ///< empty: there is none, since its default place is no place to write
  std::string problem;  ///< why it is not in the first place; else empty
};

/// The record of a job, made of its nodes' parts as they come. Parts are kept in memory up to a
/// bound, so that nobody waits for the file system; beyond it they are written at once.
class JobRecord {
 public:
  static constexpr std::size_t kMostKept = std::size_t{64} << 20;  ///< bytes

  /// What the caller has `known` of the job goes before what the images tell. The record is written
  /// to the first of the places that takes it.
  JobRecord(Facts known, std::vector<RecordPlace> places, std::size_t most_kept = kMostKept)
      : known_(std::move(known)), places_(std::move(places)), most_kept_(most_kept) {}

  /// Nodes must have different numbers. An error: the file could not be written; then it is gone,
  /// and so is the record: later calls and finish() tell the same error.
  Error add(GatheredNode node);

  /// Something that the record lacks, and why: the report shows it.
  void leave_out(std::string what);

  Result<WrittenRecord> finish();

  const JobSummary& summary() const { return summary_; }

  /// What there is to say of files that ranks of several nodes have written to through buffers, of
  /// which each counts on being alone; empty if there are none.
  std::string held_twice() const;

  /// What is known of the job so far, but for its files' lines and the record's path.
  JobStory story() const;

 private:
  Facts facts() const;
  Error open(const RecordPlace& place);
  Error begin();
  Error write_kept();
  Error write(const RecordPlace& place, const Sections& of_job, std::string& path);

  const Facts known_;
  const std::vector<RecordPlace> places_;
  const std::size_t most_kept_;
  JobSummary summary_;
  Facts of_first_node_;
  Costliest first_;  ///< of that node
  std::string left_out_;
  std::map<std::string, int> held_files_;  ///< by how many nodes
  std::vector<Sections> kept_;
  std::size_t kept_bytes_ = 0;
  std::optional<RecordFile> file_;  ///< once more came than is kept
  Error lost_;                      ///< why parts of it could not be written
  bool has_no_place_ = false;       ///< that is since its default place is none to write to
  std::string problem_;
};

}  // namespace headrace::record
