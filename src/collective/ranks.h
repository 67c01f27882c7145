#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "collective/algorithm.h"
#include "collective/execution.h"
#include "collective/node_transport.h"
#include "collective/stage_memory.h"
#include "fabric/channel.h"
#include "fabric/team.h"

namespace headrace::collective {

/// The ranks of one communicator as those that carry out collective operations together. One call
/// at a time, in the same order on all ranks, as MPI asks.
class Ranks {
 public:
  /// Collective over the team; `refused`: why this rank cannot take part, then none does.
  static Result<std::unique_ptr<Ranks>> create(std::shared_ptr<fabric::Team> team,
                                               const Error& refused = {});

  const Shape& shape() const { return memory_->shape(); }
  Limits limits() const { return {memory_->stage_size()}; }

  /// What is best for a call, or why nothing is; the same on all ranks.
  Choice choose_for(const Call& call) const;

  /// The next call is left to the library: says so to the others.
  void pass();

  enum class Outcome {
    done,
    differs,  ///< other ranks passed, or said otherwise of the call: it is left to the library
    failed
  };
  /// The next call, in parts if it is large. `chosen`: for the call, by choose_for().
  Outcome run(const Call& call, const Algorithm& chosen, const Buffers& buffers,
              const Reduction& reduction, Error& error);

 private:
  /// A schedule that was made for an earlier call like it.
  struct Kept {
    const Algorithm* algorithm = nullptr;
    std::size_t bytes = 0;
    std::size_t element = 0;
    std::size_t distance = 0;
    int root = 0;
    Schedule schedule;
  };

  Ranks(std::unique_ptr<fabric::Channel> channel, std::unique_ptr<StageMemory> memory);
  Outcome run_part(const Call& call, const Algorithm& chosen, const Buffers& buffers,
                   const Reduction& reduction, std::uint64_t note, Error& error);
  const Schedule& schedule_for(const Call& call, const Algorithm& chosen);

  static constexpr std::size_t kMostKept = 64;

  std::unique_ptr<fabric::Channel> channel_;
  std::unique_ptr<StageMemory> memory_;
  NodeTransport transport_;
  std::array<Kept, kMostKept> kept_;
  Schedule unkept_;
};

}  // namespace headrace::collective
