#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/types.h"

namespace headrace::storage {

struct ReadFacts;

/// Hints for the striping of a new file; 0 (the device: -1) for no hint.
struct StripingHints {
  Stripes stripes = {};
  std::int64_t start_device = -1;
  std::int64_t overstriping_count =
      0;  ///< number of objects, several of which may be on one device

  bool is_empty() const {
    return stripes == Stripes{} && start_device < 0 && overstriping_count == 0;
  }
};

/// What became of StripingHints.
enum class StripingOutcome { not_asked, applied, file_exists, not_supported, refused };

/// How an open file lies on its file system.
struct Layout {
  int kind = 0;  ///< the kind of file system, see name_of_kind(); 0: unknown
  /// Reads on any node see what other nodes have written once their writes have returned.
  bool is_coherent = false;
  Stripes stripes = {};            ///< as the file system reports them
  bool is_endless = false;         ///< each stripe is an object of its own, whatever the count
  bool locks_whole_files = false;  ///< a node that writes locks the whole file
  ByteCount block_size = 0;
  /// The request size that the file system prefers, in bytes, such as NFS's wsize; 0: unknown.
  ByteCount best_request = 0;
  StripingOutcome outcome = StripingOutcome::not_asked;
  int system_error = 0;     ///< why the outcome is `refused`
  bool is_one_file = true;  ///< all ranks have opened the same file, as far as known
};

/// "lustre", "ext4", ... or "unknown".
std::string name_of_kind(int kind);

/// What was done about striping hints, for MPI_File_get_info: "applied", or why they were not.
std::string explain_striping(const Layout& layout);

/// The stripes if windows can follow them: whole pages, at most 1 GiB. Otherwise unknown stripes.
Stripes usable(const Stripes& stripes);

/// The layout as one number >= 0, which one rank tells the others; without the best request, a
/// block size that is no power of 2, and stripes that are not whole pages.
std::int64_t pack(const Layout& layout);
Layout unpack_layout(std::int64_t packed);

/// Finds the layout of an open file. Asks only the kernel and the file system's client; what they
/// do not tell stays unknown.
Layout find_layout(int descriptor);
/// The same by what was said of file systems.
Layout find_layout(int descriptor, const ReadFacts& given);

/// What would become of hints for the striping of a file at `path` that a call may create.
StripingOutcome expect_striping(const std::string& path, bool exists);

/// Whether reads on this node see at once what other nodes have written.
bool is_coherent(int descriptor);

/// Whether file systems of a kind take requests for locks in advance (Lustre). `kind` is that of a
/// Layout, as in the functions below.
bool has_lock_ahead(int kind);

/// Whether ranks of a node gain by taking turns at writing a file.
bool has_one_writer(int kind);

/// Whether nodes write over each other's bytes within a page of a file that has no lock.
bool extends_writes(int kind);

/// Whether the file system is local to the node, without a server.
bool is_local(int kind);

/// Whether files on a file system may be the same on other nodes, by its number in statfs(2), its
/// device number in stat(2), and what was said of it. After its first call any signal handler may
/// call it.
bool may_be_shared(long magic, std::uint64_t device) noexcept;
/// The same by its mount in a text in the format of /proc/self/mountinfo, in which escapes are
/// replaced, and by what was said.
bool may_be_shared(long magic, std::uint64_t device, std::span<char> mountinfo,
                   const ReadFacts& given) noexcept;

/// Whether a file has the same inode number on all nodes.
bool has_lasting_numbers(int kind);

/// A file that create_striped() opened.
struct Created {
  int descriptor = -1;  ///< -1: errno tells why
  StripingOutcome outcome = StripingOutcome::not_asked;
  int system_error = 0;
};

/// Opens `path` with `flags` (which include O_CREAT), and applies the hint if the file is new and
/// its file system supports it. A hint never makes the open fail.
Created create_striped(const std::string& path, int flags, int permissions,
                       const StripingHints& hint);

}  // namespace headrace::storage
