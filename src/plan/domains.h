#pragma once

#include <cstdint>

#include "base/types.h"
#include "plan/windows.h"

namespace headrace::plan {

/// How the file is shared out among aggregators; the numbers are those of `cb_align`.
enum class Alignment {
  even = 0,        ///< even shares of what a call accesses, in whole pages
  stripes = 1,     ///< even shares of what a call accesses, in whole stripes
  persistent = 2,  ///< stripes in turn, whatever a call accesses: owners do not change while the
                   ///< file is open
};

/// What holds for all calls on a file.
struct DomainRule {
  Alignment alignment = Alignment::persistent;
  ByteCount stripe_size = 0;      ///< 0: unknown, windows take the place of stripes
  std::int64_t stripe_count = 0;  ///< how many objects the stripes go to in turn; 0: unknown
  ByteCount window_size = 1;      ///< bytes that an aggregator writes at a time
  int aggregators = 1;
};

/// Windows [first, last) of one aggregator, by round.
struct Rounds {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Which aggregator writes (or reads) which window of the file in which round of a call.
/// Aggregators are numbers from 0; plan::choose_aggregators() says which ranks they are. A value of
/// a few words; every function is arithmetic on them.
///
/// The hull [begin, end) contains all that the ranks of the call access. An aggregator's windows
/// that meet the hull are numbered from 0 in file order: its rounds. Windows of different
/// aggregators are disjoint; together they cover the hull.
///
/// Example 1, persistent: stripes of 100 bytes on 4 objects, windows of 100, 4 aggregators, hull
/// [250, 900).
///
///     aggregator     0         1         2         3
///     round 0     [400,500) [500,600) [200,300) [300,400)
///     round 1     [800,900)           [600,700) [700,800)
///
///     owner(250) == 2, place(620) == {2, 1}, window(1, 2) == [600, 700),
///     touched(0, 2) == [250, 300), rounds(1) == 1, rounds() == 2
///
/// In another call on the same file, whatever its hull, [600, 700) is aggregator 2's again.
///
/// Example 2, persistent, 2 aggregators for the same 4 objects: owner of the stripe at 100 i is
/// i mod 2, so aggregator 0 alone writes to objects 0 and 2. With 3 aggregators it is
/// (i mod 4) mod 3: stripes 0, 3, 4, 7, ... are aggregator 0's, and still no object has two.
///
/// Example 3, stripes: the same with 3 aggregators and hull [250, 900): 7 stripes from 200 on are
/// shared out as [200, 500), [500, 700), [700, 900). With windows of 200, aggregator 0 has
/// [200, 400) in round 0 and [400, 500) in round 1.
///
/// Example 4, even: pages take the place of stripes: hull [5000, 30000) of pages 1 to 7, 2
/// aggregators: [4096, 20480) and [20480, 32768).
///
/// Stripes that are larger than a window hold several windows of their owner: stripes of 100,
/// windows of 50, example 1's hull: round 0 of aggregator 2 is [250, 300), as [200, 250) lies
/// outside the hull, round 1 is [600, 650).
class DomainMap {
 public:
  /// An empty hull has no rounds.
  DomainMap(const DomainRule& rule, FileRange hull);

  int aggregators() const { return aggregators_; }
  FileRange hull() const { return hull_; }

  /// The aggregator that owns the byte at `offset` of the hull.
  int owner(FileOffset offset) const;
  /// How many windows of the aggregator meet the hull.
  std::int64_t rounds(int aggregator) const;
  /// The greatest rounds(aggregator).
  std::int64_t rounds() const { return most_rounds_; }

  struct Place {
    int aggregator = 0;
    std::int64_t round = 0;
  };
  /// The window that the byte at `offset` of the hull goes to.
  Place place(FileOffset offset) const;
  /// The inverse, for 0 <= round < rounds(aggregator). Begins on a window's boundary, may reach
  /// beyond the hull, and is shorter than a window at the end of the aggregator's share or stripe.
  FileRange window(std::int64_t round, int aggregator) const;
  /// The part of window(round, aggregator) in the hull, never empty.
  FileRange touched(std::int64_t round, int aggregator) const;
  /// The aggregator's windows that meet `range`, which need not lie in the hull: the windows that a
  /// rank shares with that aggregator if its data lies in `range`.
  Rounds meeting(int aggregator, FileRange range) const;

 private:
  bool is_cyclic() const { return period_ > 0; }
  /// Units [first, last) of an aggregator's even share.
  FileRange share(int aggregator) const;
  /// Where the first window of an aggregator's even share begins.
  FileOffset first_window(FileRange share) const;
  std::int64_t owned_in_period(int aggregator) const;
  std::int64_t owned_below(int aggregator, std::int64_t unit) const;
  std::int64_t owned_unit(int aggregator, std::int64_t number) const;
  int owner_of_unit(std::int64_t unit) const;
  /// How many windows of the first unit lie before the hull, if the unit is the aggregator's.
  std::int64_t skipped(int aggregator) const;
  /// How many of the aggregator's windows meet the hull and begin below `offset`, which lies in the
  /// hull or at its end.
  std::int64_t beginning_below(int aggregator, FileOffset offset) const;
  std::int64_t count_most_rounds() const;

  FileRange hull_;
  ByteCount window_;
  ByteCount unit_;           ///< bytes that have one owner: a stripe, or a window if that is larger
  std::int64_t per_unit_;    ///< windows of a unit, with persistent owners
  std::int64_t period_;      ///< units after which owners come again; 0: even shares
  std::int64_t first_unit_;  ///< of the hull
  std::int64_t unit_count_;  ///< of the hull
  int aggregators_;
  std::int64_t most_rounds_;
};

/// The window size for collective buffers of `wanted` bytes: whole pages, and whole stripes; an
/// even part of a stripe if that is larger than `largest`. Several stripes only if all are one
/// aggregator's: with 4 aggregators for 16 objects, up to 4 stripes.
///
/// Example: wanted 256 KiB, stripes of 1 MiB: 1 MiB. Wanted 16 MiB, 16 stripes of 1 MiB, 4
/// aggregators: 4 MiB; 16 aggregators: 1 MiB. Wanted 1 MiB, stripes of 64 MiB, largest 16 MiB:
/// 16 MiB.
ByteCount domain_window(ByteCount wanted, ByteCount largest, const DomainRule& rule);

}  // namespace headrace::plan
