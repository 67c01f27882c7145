#include "faults/regressions.h"

namespace headrace::faults {

std::vector<Regression> regressions() {
  using enum Operation;
  const Fault no_thread{thread, Kind::eagain, Scope::lasting};
  std::vector<Regression> all{
      // Who cannot ask for the shared pointer has an error of its own.
      {"write_shared on two nodes direct",
       Layer::system,
       {no_thread, {write, Kind::eacces, Scope::once}},
       false},
      // The first rank could not give up the lock that the others had met: it alone had no atomic
      // mode, and ranks waited for each other at different places.
      {"atomic independent on two nodes", Layer::store, {{lock, Kind::eio, Scope::once, 9}}, false},
      {"atomic collective on two nodes",
       Layer::store,
       {{lock, Kind::estale, Scope::lasting, 9}},
       false},
      // A lock that is tried and held.
      {"atomic collective on two nodes",
       Layer::system,
       {{lock, Kind::eacces, Scope::once, 7}},
       false}};
  // A sync without memory took the failure of a write from where it was kept, and lost it.
  for (const Layer layer : {Layer::store, Layer::system}) {
    for (const Kind kind : {Kind::efbig, Kind::eio, Kind::enospc, Kind::eacces}) {
      all.push_back({"told by the sync",
                     layer,
                     {{write, kind, Scope::lasting}, {memory, Kind::no_memory, Scope::lasting}},
                     true});
    }
    // The same where another rank's write failed.
    all.push_back({"others are told by the sync",
                   layer,
                   {{write, Kind::eio, Scope::once}, {memory, Kind::no_memory, Scope::once}},
                   true});
  }
  // A leader without memory after the leaders had met left the other nodes waiting.
  for (const std::string call : {"write_at_all", "read_at_all"}) {
    const std::string two = call + " on two nodes exchanged";
    const std::string three = call + " on three nodes exchanged";
    all.push_back({two, Layer::store, {{memory, Kind::no_memory, Scope::once}}, true});
    all.push_back({three, Layer::store, {{memory, Kind::no_memory, Scope::one_rank}}, true});
    all.push_back({two, Layer::store, {{share, Kind::no_memory, Scope::lasting}}, true});
    // One rank cannot open the file, here and on another node.
    all.push_back({two, Layer::store, {{open, Kind::eio, Scope::once}}, true});
    all.push_back({three, Layer::system, {{open, Kind::eacces, Scope::one_rank}}, true});
  }
  return all;
}

}  // namespace headrace::faults
