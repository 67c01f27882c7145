#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collective/algorithm.h"
#include "collective/generated/uses.h"
#include "collective/ranks.h"
#include "record/decision.h"

namespace headrace::collective {

/// A choice: who carries out what we do not.
inline constexpr const char* kLibraryItself = "the MPI library";

/// What is done with a call.
struct Chosen {
  const Algorithm* algorithm = nullptr;  ///< null: the MPI library carries it out
  const char* reason = nullptr;          ///< then why
  const Use* use = nullptr;              ///< else what was measured of it; null: nothing was asked
  bool has_size = true;    ///< false: of the call's arguments no more than the operation is known
  bool is_lasting = true;  ///< false: it may be otherwise at the next such call
};

/// What is done with the calls of one communicator, as the user and the recorder learn of it. One
/// call at a time.
class ChoiceLog {
 public:
  /// `ranks`: of the communicator.
  ChoiceLog(int ranks, bool prints) : ranks_(ranks), prints_(prints) {}

  /// False where nobody wants to know.
  bool is_on() const noexcept;
  /// Whether times are to be taken.
  static bool is_recorded() noexcept;

  /// Tells of a call: prints each kind of call once for all communicators, and counts all in the
  /// record. Returns what the call's time is to be added to; null if it is not recorded, or the
  /// library carries it out. `prepared`: null if the communicator is not.
  record::DecisionCost* note(const Call& call, const Chosen& chosen,
                             const Ranks* prepared) noexcept;

 private:
  /// A kind of calls that was noted. Reasons last as long as the communicator, so each has an
  /// address of its own.
  struct Kept {
    Operation operation;
    bool has_size;
    int bin;  ///< of bytes, as records have them
    const Algorithm* algorithm;
    const char* reason;
    const Use* use;
    record::DecisionCost* cost;
  };

  /// What was done with a kind of calls, and printed. Reasons: as above.
  struct Told {
    const Algorithm* algorithm = nullptr;
    const char* reason = nullptr;
    const Use* use = nullptr;
    friend bool operator==(const Told&, const Told&) = default;
  };

  record::DecisionCost* find_or_keep(const Call& call, const Chosen& chosen, const Ranks* prepared);
  std::vector<Told>& told_of(const Call& call, bool is_sized);
  void print(const Call& call, const Chosen& chosen, const Ranks* prepared);

  int ranks_;
  bool prints_;
  std::vector<Kept> kept_;
  std::size_t last_ = 0;  ///< that was found
  std::vector<std::vector<Told>> told_;
};

/// What is printed of a call. `ranks`: of the communicator; `prepared`: null if it is not.
std::string line_of(const Call& call, const Chosen& chosen, int ranks, const Ranks* prepared);

/// A choice as records and reports show it. `ranks`: of the communicator; `alternatives`: see
/// there.
record::Decision decision_of(const Call& call, const Chosen& chosen, int ranks,
                             std::string alternatives);

/// What else could have carried a call out, with what each leader would have sent to other nodes.
std::string alternatives_of(const Shape& shape, const Call& call, const Limits& limits,
                            const Algorithm* chosen);

}  // namespace headrace::collective
