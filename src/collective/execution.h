#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "collective/call.h"
#include "collective/schedule.h"

namespace headrace::collective {

/// How a rank reaches the others: by MPI and a node's shared memory, or in a simulation. Nothing
/// here waits.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Whether nobody of the node uses the stage of this call for an earlier one.
  virtual bool is_stage_free() = 0;
  /// Numbers of milestones grow from call to call.
  virtual void reach(std::uint64_t number, fabric::Milestones::Audience audience) = 0;
  virtual bool has_reached(int node_rank, std::uint64_t number) = 0;
  virtual bool have_all_reached(std::uint64_t number) = 0;
  /// Whether a rank of the node that has come, or all, said the same of this call as this rank.
  virtual bool agrees_with(int node_rank) = 0;
  virtual bool agrees_with_all() = 0;

  /// To and from ranks of the communicator. The memory must stay until all is complete.
  virtual Error send(int rank, std::span<const std::byte> bytes) = 0;
  virtual Error receive(int rank, std::span<std::byte> bytes) = 0;
  virtual Result<bool> is_complete() = 0;
};

/// Makes `into` what both are together, for the predefined operation of a call.
struct Reduction {
  void (*apply)(const void* context, const std::byte* from, std::byte* into,
                std::size_t bytes) = nullptr;
  const void* context = nullptr;
};

/// A call's memory. With MPI_IN_PLACE `send` lies in `receive`.
struct Buffers {
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::byte* stage = nullptr;
};

/// The number of a milestone.
constexpr std::uint64_t milestone(std::uint64_t call, std::uint8_t phase) {
  return call * (kLastPhase + 1) + phase;
}

/// One rank's part of a call, step by step. All that it is given must live as long.
class Execution {
 public:
  /// `number`: of the call, one more than that of the call before, on all ranks.
  Execution(const Schedule& schedule, const Shape& shape, const Blocks& blocks,
            const Buffers& buffers, const Reduction& reduction, Transport& transport,
            std::uint64_t number)
      : schedule_(schedule),
        shape_(shape),
        blocks_(blocks),
        buffers_(buffers),
        reduction_(reduction),
        transport_(transport),
        number_(number) {}

  enum class State {
    done,
    waits,    ///< step() cannot be done yet
    differs,  ///< another rank said otherwise of the call; nothing has come into the buffers
    failed    ///< error() tells why
  };
  /// Goes on as far as it can without waiting.
  State advance();

  const Step& step() const { return schedule_.steps[next_]; }
  const Error& error() const { return error_; }

 private:
  State do_step(const Step& step);
  State wait_for(const Step& step);
  void copy(const Step& step) const;
  void arrange(const Step& step) const;
  void reduce(const Step& step) const;
  State begin_message(const Step& step);
  State complete();
  State fail(Error error);
  const std::byte* from(Position position) const;
  std::byte* to(Position position) const;

  const Schedule& schedule_;
  const Shape& shape_;
  const Blocks& blocks_;
  Buffers buffers_;
  Reduction reduction_;
  Transport& transport_;
  std::uint64_t number_;
  std::size_t next_ = 0;
  bool is_compared_ = false;
  Error error_;
};

}  // namespace headrace::collective
