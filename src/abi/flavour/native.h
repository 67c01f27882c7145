#pragma once

#include <cstdint>

#include "abi/generated/native_calls.h"

// This is the only way to mpi.h: everything in this folder is compiled once per MPI ABI, into a
// namespace of its own, and calls MPI through `native` alone.

#ifdef HEADRACE_FLAVOUR_OPENMPI
// Open MPI's MPI_COMM_WORLD and the like are addresses of its data. Nothing is linked against an
// MPI, so they are looked up (see bind_native) and these macros name what was found.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (static_cast<type>(headrace::abi_openmpi::native_data.global))
#endif

namespace headrace::HEADRACE_FLAVOUR {

extern NativeCalls native;

#ifdef HEADRACE_FLAVOUR_OPENMPI
extern NativeData native_data;

/// How Open MPI's own procedures call an error handler: `object` is the handle that the handler
/// sees, `procedure` its third argument. All versions of this ABI (3 to 5) export it.
using ErrorHandlerCall = int(MPI_Errhandler handler, void* object, int object_type, int code,
                             const char* procedure);
extern ErrorHandlerCall* invoke_error_handler;
inline constexpr int kFileObject = 3;  ///< its OMPI_ERRHANDLER_TYPE_FILE

/// How many sessions Open MPI has, of which MPI_Init makes one; null before version 5.
extern const volatile int* session_count;
#endif

#ifdef HEADRACE_FLAVOUR_MPICH
/// Procedures of MPICH's family beyond the standard. Null if the library lacks them.
struct NativeExtensions {
  /// Marks a handler as one of Fortran with integers of 8 bytes: Intel MPI's
  /// MPII_Errhandler_set_fc_ilp64.
  void (*mark_ilp64)(MPI_Errhandler handler) = nullptr;
};
extern NativeExtensions native_extensions;
#endif

/// What tells handles of one kind apart: a number or an address, by the ABI.
template <class Handle>
std::uintptr_t handle_key(Handle handle) {
  return (std::uintptr_t)handle;
}

/// Fills `native` by dlsym. Returns the name of a symbol that is needed and missing, or null.
const char* bind_native(void* library);

// Combiners that not every mpi.h names. Those that a library does not know are negative here.
#if defined(HEADRACE_FLAVOUR_MPIABI)
inline constexpr int kHvectorInteger = -1;
inline constexpr int kHindexedInteger = -2;
inline constexpr int kStructInteger = -3;
#elif defined(HEADRACE_FLAVOUR_OPENMPI)
// Its mpi.h hides the names of removed combiners and keeps their places in the enum.
inline constexpr int kHvectorInteger = MPI_COMBINER_HVECTOR - 1;
inline constexpr int kHindexedInteger = MPI_COMBINER_HINDEXED - 1;
inline constexpr int kStructInteger = MPI_COMBINER_STRUCT - 1;
#else
inline constexpr int kHvectorInteger = MPI_COMBINER_HVECTOR_INTEGER;
inline constexpr int kHindexedInteger = MPI_COMBINER_HINDEXED_INTEGER;
inline constexpr int kStructInteger = MPI_COMBINER_STRUCT_INTEGER;
#endif
#ifdef HEADRACE_FLAVOUR_OPENMPI
inline constexpr int kValueIndex = -4;
#else
inline constexpr int kValueIndex = MPI_COMBINER_VALUE_INDEX;
#endif

}  // namespace headrace::HEADRACE_FLAVOUR
