#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "collective/call.h"
#include "collective/parcel_execution.h"
#include "collective/schedule.h"
#include "collective/transport.h"

namespace headrace::collective {

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
  Parcels* parcels = nullptr;  ///< of calls that have them, in place of `send` and `receive`
};

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
        number_(number),
        is_spoilt_(transport.is_spoilt()),
        parcels_(shape, buffers.parcels, buffers.stage, transport) {}

  enum class State {
    done,
    waits,    ///< step() cannot be done yet
    differs,  ///< another rank said otherwise of the call; nothing has come into the buffers
    failed    ///< error() tells why
  };
  /// Of a failure: all steps were made, but without data, for the sake of others.
  bool is_made_without_data() const { return is_spoilt_ && next_ == schedule_.steps.size(); }
  /// Whether this is why: ranks of the node differ about the size.
  bool is_at_odds() const { return is_at_odds_; }
  /// To be called first, where that was so of an earlier part: they may have other numbers of
  /// parts, so they do not meet, and only messages are moved.
  void move_messages_only() { moves_messages_only_ = true; }

  /// Goes on as far as it can without waiting.
  State advance();

  const Step& step() const { return schedule_.steps[next_]; }
  const Error& error() const { return error_; }

 private:
  State do_step(const Step& step);
  State move_data(const Step& step) const;
  State wait_for(const Step& step);
  bool may_go_on(Agreement agreement);
  void copy(const Step& step) const;
  void arrange(const Step& step) const;
  void reduce(const Step& step) const;
  State begin_message(const Step& step);
  State go_on(const Result<bool>& is_done);
  State end();
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
  bool is_spoilt_;  ///< as the transport says
  bool is_at_odds_ = false;
  bool moves_messages_only_ = false;
  ParcelExecution parcels_;
  std::size_t next_ = 0;
  bool is_compared_ = false;
  Error error_;
};

}  // namespace headrace::collective
