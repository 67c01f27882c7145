#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exchange/file_team.h"
#include "file/file.h"
#include "steps/memory.h"
#include "steps/step.h"

namespace headrace::steps {

/// What one rank got from a step.
struct Got {
  Error error;
  ByteCount bytes = 0;                ///< access
  std::vector<std::uint8_t> memory;   ///< access: all of the buffer when complete
  std::optional<std::int64_t> value;  ///< of shared_position, byte_offset or get_size
  /// The individual pointer right after the step, in etypes; a sequential file has none.
  std::optional<std::int64_t> position;
  bool cancelled = false;
  bool is_unknown = false;  ///< access: nobody asked what became of it
};

/// One file on one rank of the engine: takes steps.
class Driver {
 public:
  /// `seed`: of the data.
  Driver(std::uint64_t seed, int rank) : seed_(seed), rank_(rank) {}
  virtual ~Driver() = default;
  Driver(Driver&&) = default;

  Error open(const std::shared_ptr<exchange::FileTeam>& team, storage::FileSystem& file_system,
             const std::string& path, const Mode& mode, const Hints& hints);
  Error close();
  bool is_open() const { return file_ != nullptr; }
  file::File& file() { return *file_; }
  /// The individual pointer, in etypes; nothing without a file or in a sequential one.
  std::optional<std::int64_t> position() const;

  /// Takes any step but meet and reopen, for which ranks wait for each other. What came of it, and
  /// of accesses that it completed, by their ids.
  std::map<int, Got> take(const Step& step);

 protected:
  /// Calls the engine.
  virtual Error call(const std::function<Error()>& calls) { return calls(); }

 private:
  /// An access that goes on.
  struct Pending {
    std::shared_ptr<file::Operation> operation;
    Memory memory;
    Got got;
  };

  const Part& part(const Step& step) const { return step.parts[static_cast<std::size_t>(rank_)]; }
  file::TransferCall call_of(const Step& step, std::uint8_t* memory, std::int64_t origin) const;
  void access(const Step& step);
  Error begin(const Step& step, const file::TransferCall& call, Pending& pending,
              file::Outcome& outcome);
  void finish(int id, Pending pending, const file::Outcome& outcome);
  void wait(const Step& step);
  void end(const Step& step);
  void query(const Step& step);
  void together(const Step& step);
  Error set_view(const Step& step);
  void got(const Step& step, const Error& error, Got result = {});

  std::uint64_t seed_;
  int rank_;
  std::unique_ptr<file::File> file_;
  std::map<int, Pending> pending_;
  std::optional<Step> split_;
  std::map<int, Got> results_;
};

}  // namespace headrace::steps
