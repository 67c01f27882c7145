#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "exchange/shared_pointer.h"
#include "exchange/shared_pointer_protocol.h"

namespace headrace::exchange {

/// The shared pointers that other nodes may move: of teams, known by their secrets, and their
/// channels. Safe from several threads.
class SharedPointerRegistry {
 public:
  /// `most_channels`: their numbers are smaller. Adding a channel then takes no memory.
  void add_team(const Secret& secret, int most_channels);
  void remove_team(const Secret& secret);

  /// `pointer` must live until it is removed; nobody uses it afterwards.
  void add_channel(const Secret& secret, int channel, SharedPointer& pointer);
  void remove_channel(const Secret& secret, int channel);

  /// Does what is asked, once for each sequence number of a rank: where the last answer was lost on
  /// its way, it is given again. Nothing where the question is not from one of ours.
  /// `challenge`: of the connection that it came over.
  std::optional<AnswerBytes> answer(const QuestionBytes& question, const Secret& challenge);

 private:
  struct Team {
    Secret secret;
    std::vector<SharedPointer*> channels;                 ///< by number; null where there is none
    std::map<std::uint32_t, PointerAnswer> last_answers;  ///< by rank
  };

  Team* find(const Secret& secret);
  Team* find_asker(const QuestionBytes& question, const Secret& challenge);
  static std::optional<PointerAnswer> answer(Team& team, const PointerQuestion& question);

  std::mutex mutex_;  ///< guards what follows
  std::vector<Team> teams_;
};

}  // namespace headrace::exchange
