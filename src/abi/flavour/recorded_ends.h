#pragma once

#include <cstdint>

#include "abi/words.h"

/// Procedures of which the recorder does more than count the call. `next` stands behind it; the
/// other arguments are the procedure's.
namespace headrace::HEADRACE_FLAVOUR::ends {

abi::Word Finalize(void* next, const std::uintptr_t* return_slot);
abi::Word Abort(void* next, const std::uintptr_t* return_slot, abi::Word communicator,
                abi::Word code);
abi::Word Comm_free(void* next, const std::uintptr_t* return_slot, abi::Word communicator);
abi::Word Comm_disconnect(void* next, const std::uintptr_t* return_slot, abi::Word communicator);
abi::Word File_open(void* next, const std::uintptr_t* return_slot, abi::Word communicator,
                    abi::Word name, abi::Word mode, abi::Word info, abi::Word file);
abi::Word File_close(void* next, const std::uintptr_t* return_slot, abi::Word file);
abi::Word Start(void* next, const std::uintptr_t* return_slot, abi::Word request);
abi::Word Startall(void* next, const std::uintptr_t* return_slot, abi::Word count,
                   abi::Word requests);
abi::Word Cancel(void* next, const std::uintptr_t* return_slot, abi::Word request);
abi::Word Request_free(void* next, const std::uintptr_t* return_slot, abi::Word request);

/// Of its arguments, the first.
void Pcontrol(int level);

}  // namespace headrace::HEADRACE_FLAVOUR::ends
