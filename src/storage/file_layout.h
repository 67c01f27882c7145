#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/types.h"

namespace headrace::storage {

/// What a program asks of a file that is created; 0 (the device: -1) for no hint.
struct StripingHints {
  Stripes stripes = {};
  std::int64_t start_device = -1;
  std::int64_t overstriping_count = 0;  ///< objects, of which a device may have several

  bool is_empty() const {
    return stripes == Stripes{} && start_device < 0 && overstriping_count == 0;
  }
};

/// What became of a StripingHints.
enum class StripingOutcome { not_asked, applied, file_exists, not_supported, refused };

/// How an open file lies on its file system.
struct Layout {
  int kind = 0;  ///< what name_of_kind() knows by name; 0: not known
  /// Reads on any node see what another one's writes have returned from.
  bool is_coherent = false;
  Stripes stripes = {};            ///< as the file system tells them
  bool is_endless = false;         ///< each stripe is an object of its own, whatever the count
  bool locks_whole_files = false;  ///< a node that writes locks out the others
  ByteCount block_size = 0;
  /// Bytes that the file system likes to get at a time, as NFS's wsize; 0: not known.
  ByteCount best_request = 0;
  StripingOutcome outcome = StripingOutcome::not_asked;
  int system_error = 0;     ///< why the outcome is `refused`
  bool is_one_file = true;  ///< all ranks have opened the same file, as far as is known
};

/// "lustre", "ext4", ... or "unknown".
std::string name_of_kind(int kind);

/// What was done about striping hints, for MPI_File_get_info: "applied", or why not.
std::string explain_striping(const Layout& layout);

/// Stripes that windows can follow: whole pages, at most 1 GiB. What is not is taken as not known.
Stripes usable(const Stripes& stripes);

/// The layout as one number, at least 0, without block size and best request: what one rank tells
/// the others. Stripes that are not whole pages are left out.
std::int64_t pack(const Layout& layout);
Layout unpack_layout(std::int64_t packed);

/// Looks at an open file. Asks the kernel and the file system's client only; where they cannot
/// answer, less is known.
Layout find_layout(int descriptor);

/// Whether reads on this node see at once what other nodes' writes have returned from.
bool is_coherent(int descriptor);

/// Whether file systems of a kind take requests for locks (Lustre).
bool has_lock_ahead(int kind);

/// Whether ranks of a node gain by writing a file in turn on file systems of a kind.
bool has_one_writer(int kind);

/// Whether a kind of file system is the node's own, without a server.
bool is_local(int kind);

/// Whether a file has the same number on all nodes on file systems of a kind.
bool has_lasting_numbers(int kind);

/// A file that create_striped() opened.
struct Created {
  int descriptor = -1;  ///< -1: errno tells why
  StripingOutcome outcome = StripingOutcome::not_asked;
  int system_error = 0;
};

/// Opens `path` with `flags` (O_CREAT among them) and applies the hint, where the file is new and
/// its file system can. The hint never keeps a file from being opened.
Created create_striped(const std::string& path, int flags, int permissions,
                       const StripingHints& hint);

}  // namespace headrace::storage
