#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "promises/watch.h"

namespace headrace::bench::promises {

/// Ends a case on this rank; what was found until then stands.
struct Stop {};

/// One case being tried: who takes part, where its files go, and what was found wrong.
class Trial {
 public:
  Trial(std::string directory, bool layered);

  int rank = 0;
  int size = 1;

  std::string path(const std::string& name = "data") const { return directory_ + "/" + name; }
  const std::string& directory() const { return directory_; }
  bool is_last() const { return rank == size - 1; }

  /// Opens a file that must open; ends the case where it does not. Collective over `communicator`.
  MPI_File open(int amode, const std::string& name = "data",
                MPI_Comm communicator = MPI_COMM_WORLD);
  void close(MPI_File& file);

  /// Says that a promise is broken, in a few words that fit a table.
  void broken(const std::string& text) const { record("broken\t" + text); }
  /// The same unless `kept`; returns it.
  bool expect(bool kept, const std::string& text) const;
  /// The same where `code` is an error. `what`: the call, in a word.
  bool expect_success(int code, const std::string& what) const;
  /// The same where `code` is not of this class.
  bool expect_class(int code, int error_class, const std::string& what = {}) const;

 private:
  std::string directory_;
  bool layered_;
};

/// "MPI_ERR_IO", or "MPI_SUCCESS".
std::string class_name(int code);

/// Byte `index` of what `rank` writes: never 0, so that a hole is told from data.
unsigned char pattern_byte(int rank, std::int64_t index);
std::vector<unsigned char> pattern(int rank, std::int64_t length);

/// A status that says 0 bytes until a call sets it.
MPI_Status empty_status();

/// The bytes of a status; -1 where it holds no number.
std::int64_t byte_count(const MPI_Status& status);

/// The places of a rank's data in a file: pieces of `piece` bytes, one in `stride` bytes, from
/// `first`.
struct Places {
  std::int64_t first = 0;
  std::int64_t piece = 1;
  std::int64_t stride = 1;

  std::int64_t of(std::int64_t index) const {
    return first + index / piece * stride + index % piece;
  }
  bool is_contiguous() const { return piece == stride; }
};

/// Each rank's `length` bytes one behind the other, and pieces of all ranks in turn.
Places one_after_another(const Trial& trial, std::int64_t length);
Places in_turn(const Trial& trial, std::int64_t piece);

/// Sets a view in which the data at `places` are all there is. Collective.
void see(const Trial& trial, MPI_File file, const Places& places);

/// The file's content, by POSIX calls; empty where there is no file.
std::vector<unsigned char> content(const std::string& path);
/// Makes a file of this content, by POSIX calls.
void make_file(const std::string& path, const std::vector<unsigned char>& bytes);

}  // namespace headrace::bench::promises
