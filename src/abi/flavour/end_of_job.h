#pragma once

#include "abi/flavour/file_handle.h"
#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// What the hint abort_on_rw_error asks for: if `error` is of a read or write that failed, prints
/// it and ends the job. The caller must hold no lock. Any thread of the program may call it.
void end_job_if_asked(const OpenFile& file, const Error& error) noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR
