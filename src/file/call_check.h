#pragma once

#include <cstdint>
#include <string>

#include "file/file.h"

namespace headrace::file {

// Checks whether a view or a call must be refused. Pure functions; `path` is for messages.

/// Whether a file opened in `mode` may get the view.
Error check_view(const Result<View>& view, const AccessMode& mode);

/// Checks everything about a call but its place in the file. `unit`: bytes of an etype.
/// `is_splitting`: a split collective call is active.
Error check_call(const TransferCall& call, const std::string& path, const AccessMode& mode,
                 ByteCount unit, bool is_splitting);

/// Whether a call of `bytes` bytes fits into the view at `position`, in etypes. Another thread may
/// have set another view since the call was checked with etypes of `unit` bytes.
Error check_place(const TransferCall& call, const std::string& path, const View& view,
                  ByteCount unit, std::int64_t position, ByteCount bytes);

/// Whether all offsets of `bytes` bytes of data from `position`, in etypes, fit in 62 bits.
Error check_fits(const View& view, std::int64_t position, ByteCount bytes);

/// The error of a call that a file opened with MPI_MODE_SEQUENTIAL does not allow.
Error only_in_sequence(const std::string& path);

}  // namespace headrace::file
