#pragma once

/// What the functions do that Headrace shows by names of its own. Programs reach them by
/// headrace.h, headrace.f90 and headrace.regions, MPI_Pcontrol and pat_api.h.
namespace headrace::abi {

inline constexpr int kOff = 0;
inline constexpr int kOn = 1;
inline constexpr int kQuery = 2;

/// 1: noted, 0: nothing is recorded, -1: the call is wrong, and told once.
int begin_region(int id, const char* label) noexcept;
int end_region(int id) noexcept;

/// kOff, kOn, or kQuery, which changes nothing. Returns which it was; -1 for any other.
int record_state(int state) noexcept;

/// 1: the image has all that is known now, 0: nothing is recorded.
int flush() noexcept;

}  // namespace headrace::abi
