#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "exchange/event.h"
#include "exchange/messenger.h"

namespace headrace::exchange {

class Channel;

/// The ranks of one communicator, who of them share a node, and the node's shared memory. Kept
/// while files are open on it, and with its communicator where all ranks have room for it.
class Team : public std::enable_shared_from_this<Team> {
 public:
  /// Collective over the messenger's ranks. `node` identifies the node (see topo/node.h): ranks
  /// with equal values try to share memory; where that fails each of them counts as a node of its
  /// own. `has_room`: whether this process may keep one more.
  static Result<std::shared_ptr<Team>> create(std::unique_ptr<Messenger> messenger,
                                              const std::string& node, bool has_room = true);
  virtual ~Team() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int node_count() const = 0;
  /// Whether all ranks have room to keep it.
  virtual bool may_stay() const = 0;
  virtual Waiter waiter() const = 0;  ///< of a thread of the program
  /// How the ranks of this node share memory, or why they do not, for people.
  virtual const std::string& shared_memory() const = 0;

  /// Collective, in the same order on all ranks (as MPI asks of MPI_File_open).
  virtual Result<std::unique_ptr<Channel>> open_channel() = 0;
};

}  // namespace headrace::exchange
