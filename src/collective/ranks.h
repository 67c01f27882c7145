#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "collective/algorithm.h"
#include "collective/execution.h"
#include "collective/generated/uses.h"
#include "collective/node_transport.h"
#include "collective/stage_memory.h"
#include "fabric/channel.h"
#include "fabric/team.h"

namespace headrace::collective {

/// Why the library carries an operation out: nothing was measured of it.
inline constexpr const char* kNotSlower = "it was not measured to be slower";

/// What would carry calls out without us, and where we are faster. The table must live as long.
struct Measured {
  Library library = Library::other;
  std::span<const Use> uses = kUses;
};

/// The ranks of one communicator as those that carry out collective operations together. One call
/// at a time, in the same order on all ranks, as MPI asks.
class Ranks {
 public:
  /// Collective over the team; `refused`: why this rank cannot take part, then none does.
  /// `measured`: none: we always carry calls out where we can. All ranks must have the same, or
  /// none takes part; nor where nothing of it counts.
  static Result<std::unique_ptr<Ranks>> create(std::shared_ptr<fabric::Team> team,
                                               const std::optional<Measured>& measured,
                                               const Error& refused = {});

  const Shape& shape() const { return memory_->shape(); }
  Limits limits() const;

  /// What is done for a call, the same on all ranks. Valid until the next call of prepare() or
  /// run().
  struct Prepared {
    const Algorithm* algorithm = nullptr;  ///< null where the library had better do it
    const char* obstacle = nullptr;        ///< why
    const Use* use = nullptr;              ///< what was measured; null where that does not count
    std::size_t part = 0;                  ///< bytes that are moved at a time, at most
    std::uint64_t told = 0;                ///< what others are told of the call's size
    Schedule schedule;                     ///< of a call that is made in one part
  };
  const Prepared& prepare(const Call& call) { return prepare(call, false); }

  /// Whether some calls of the operation are carried out here. If not, all ranks know, and none of
  /// them says anything of a call.
  bool carries(Operation operation) const;
  /// Whether it was measured to be slower in the library's way, or nobody asks for that: the same
  /// on all ranks, and known at less cost than by prepare().
  bool takes_size(const Call& call) const { return !is_measured_ || find_use(call) != nullptr; }
  /// Why the library carries out what was not measured to be slower.
  const char* why_left(Operation operation) const;

  /// The next call is left to the library: says so to the others, unless that is so of all calls
  /// of the operation here, and they know.
  void pass(Operation operation);

  /// This rank lacks memory for the next call, of which the root is known. True if the call is left
  /// to the library, as all others learn; else they have carried it out, or wait for this rank.
  bool lack_memory(const Call& call);

  enum class Outcome {
    done,
    differs,  ///< other ranks passed, or said otherwise of the call: it is left to the library
    failed
  };
  struct Ending {
    Error error;  ///< why it failed
    /// What this rank got of a broadcast whose root gave less than it expects.
    std::optional<std::size_t> received;
  };
  /// The next call, which prepare() has an algorithm for; in parts if it is large.
  Outcome run(const Call& call, const Buffers& buffers, const Reduction& reduction, Ending& ending);

 private:
  /// What calls of one kind and size need to know.
  struct Kept {
    bool is_filled = false;
    bool is_part = false;
    Operation operation = Operation::barrier;
    int root = 0;
    std::size_t bytes = 0;
    std::size_t element = 0;
    std::size_t distance = 0;
    std::vector<std::size_t> sizes;  ///< where blocks have sizes of their own
    Prepared prepared;

    bool is_for(const Call& call, bool of_part) const {
      return is_filled && is_part == of_part && operation == call.operation &&
             bytes == call.bytes && root == call.root && element == call.element &&
             distance == call.blocks.distance && std::ranges::equal(sizes, call.blocks.sizes);
    }
    void set_key(const Call& call, bool of_part);
  };

  Ranks(std::unique_ptr<fabric::Channel> channel, std::unique_ptr<StageMemory> memory,
        const std::optional<Measured>& measured, bool is_crowded);
  /// All steps, unless one fails or throws for want of memory.
  Execution::State finish(Execution& execution);
  struct PartEnd {
    Outcome outcome = Outcome::done;
    bool goes_on = false;     ///< though it has failed: other nodes wait for what is next
    bool is_at_odds = false;  ///< Execution::is_at_odds()
  };
  PartEnd run_part(const Call& call, const Schedule& schedule, const Buffers& buffers,
                   const Reduction& reduction, std::uint64_t note, Error& error);
  void move_messages(const Call& part, const Schedule& schedule);
  Outcome run_parts(const Call& call, std::size_t most, const Buffers& buffers,
                    const Reduction& reduction, std::uint64_t note, Error& error);
  Outcome run_noted(const Call& call, const Prepared& prepared, const Buffers& buffers,
                    const Reduction& reduction, std::uint64_t note, Error& error);
  void leave_parts(const Call& call);
  Outcome follow_root(const Call& call, std::uint64_t note, const Buffers& buffers, Ending& ending);
  /// `is_part`: of a call that we carry out, whatever was measured of a call as large as the part.
  const Prepared& prepare(const Call& call, bool is_part);
  void prepare_parts(const Call& call);
  void fill(const Call& call, bool is_part, Prepared& prepared) const;
  void set_uses(const std::optional<Measured>& measured);
  const char* why_left(std::uint32_t operations) const;
  /// Null where nothing was measured of such a call.
  const Use* find_use(const Call& call) const;

  Kept& kept_for(const Call& call, bool is_part);

  static constexpr std::size_t kMostKept = 64;
  static constexpr std::uint32_t kAnyOperation = ~std::uint32_t{0};

  std::unique_ptr<fabric::Channel> channel_;
  std::unique_ptr<StageMemory> memory_;
  bool is_measured_ = false;
  bool is_crowded_ = false;  ///< whether ranks outnumber cores on one of the nodes
  /// What was measured that counts here, by operation.
  std::array<std::vector<const Use*>, kOperations> uses_;
  std::uint32_t carried_ = 0;    ///< a bit of each operation of which some calls are carried out
  std::uint32_t elsewhere_ = 0;  ///< and of those that would be on other numbers of nodes and ranks
  std::uint32_t otherwise_crowded_ = 0;  ///< and of those that would be on more cores, or on fewer
  NodeTransport transport_;
  std::array<Kept, kMostKept> kept_;
  // Of calls whose blocks have sizes of their own: these may be many.
  Kept kept_allgatherv_;
  Kept kept_reduce_scatter_;
};

}  // namespace headrace::collective
