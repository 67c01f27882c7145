#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/types.h"

namespace headrace::simulate {

/// What happened at the servers.
struct StorageCounts {
  std::int64_t lock_grants = 0;
  std::int64_t lock_transfers = 0;      ///< locks that a client lost to another one
  std::int64_t requests = 0;            ///< writes that reached a server
  std::int64_t read_modify_writes = 0;  ///< those that cover a server block in part
  ByteCount bytes = 0;
};

/// One object of a striped file as Lustre's servers and clients treat it. A client gets a lock
/// before it writes, over all that no other client has (or exactly what it asks for, with
/// lock-ahead); where another has a part of what is asked for, that lock is called back first. A
/// client keeps what it wrote, in one run, and sends whole server blocks; when it loses the lock,
/// or writes elsewhere, it sends the rest.
class Object {
 public:
  Object(ByteCount server_block, bool locks_ahead)
      : server_block_(server_block), locks_ahead_(locks_ahead) {}

  /// Writes [begin, end) of the object.
  void write(int client, FileOffset begin, FileOffset end);
  /// All clients send what they keep.
  void close();

  /// Of those below, what a writer had to wait for: locks called back, and what was sent for them.
  const StorageCounts& waited_for() const { return waited_for_; }
  const StorageCounts& counts() const { return counts_; }

 private:
  struct Lock {
    FileOffset end = 0;
    int client = 0;
  };
  struct Run {
    FileOffset begin = 0;
    FileOffset end = 0;
  };

  void lock(int client, FileOffset begin, FileOffset end);
  bool has_lock(int client, FileOffset begin, FileOffset end) const;
  void call_back(int client);
  void keep(Run& run, FileOffset begin, FileOffset end);
  void send(Run& run, FileOffset end);

  ByteCount server_block_;
  bool locks_ahead_;
  std::map<FileOffset, Lock> locks_;  ///< by where they begin; they do not overlap
  std::map<int, Run> kept_;           ///< by client
  StorageCounts counts_;
  StorageCounts waited_for_;
};

}  // namespace headrace::simulate
