#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace headrace::simulate {

/// A number that turns counts into time, and where it is from.
struct Cost {
  std::string_view name;
  double value;
  std::string_view unit;
  std::string_view source;
};

/// A Cray XT5 and its Lustre of 2009, on which the published results were measured. Seek times and
/// rates of a disk are those of its data sheet; the rest is rounded.
using Costs = std::array<Cost, 5>;
inline constexpr Costs kDefaultCosts = {{
    {"message", 5e-6, "s",
     "latency of MPI on SeaStar2: S. R. Alam et al., Cray XT4: an early evaluation for petascale "
     "scientific simulation, SC07, about 4.5 us"},
    {"node_rate", 2e9, "bytes/s", "MPI bandwidth of a node on SeaStar2: the same, about 2 GB/s"},
    {"target_rate", 112.5e6, "bytes/s",
     "a storage target: the scale of Cray's figure for 16 of them ends at 1,800 MB/s (MPT updates, "
     "2009)"},
    {"lock_messages", 4, "messages",
     "to get a lock that another client has: request, call back, return, grant (Understanding "
     "Lustre filesystem internals, ORNL/TM-2009/117)"},
    {"read_modify_write", 12.7e-3, "s",
     "a disk's average seek and half a turn at 7,200 a minute: 8.5 ms and 4.2 ms, data sheets of "
     "SATA disks of that time"},
}};

}  // namespace headrace::simulate
