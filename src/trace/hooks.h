#pragma once

#include <cstdint>

/// Functions that were compiled with -finstrument-functions call hooks at their begin and end.
namespace headrace::trace {

/// What the slots of __cyg_profile_func_enter and __cyg_profile_func_exit are led to. `function`:
/// its address; `site`: where it was called.
void enter_hook(void* function, void* site) noexcept;
void exit_hook(void* function, void* site) noexcept;

/// Has a function traced whose hooks are called with this address. Throws std::bad_alloc.
void add_hooked(const void* address, std::uint32_t number);

/// Each function that calls hooks is traced, but for those that find no room.
void add_all_hooked() noexcept;

}  // namespace headrace::trace
