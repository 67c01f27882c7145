#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "common/failure.h"
#include "common/posix_io.h"
#include "common/ways.h"

namespace headrace::bench {
namespace {

/// Bytes of the file that rank 0 handles at a time.
constexpr std::int64_t slab_size = std::int64_t{4} << 20;

/// The runs in the file of all ranks, by rank, on rank 0; empty elsewhere. Collective.
std::vector<Strips> gather_strips(const World& world, const Strips& mine) {
  constexpr int tag = 1;
  const std::int64_t count = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(world.rank == 0 ? world.size : 0));
  MPI_Gather(&count, 1, MPI_INT64_T, counts.data(), 1, MPI_INT64_T, 0, world.communicator);
  std::vector<Strips> all;
  agree_on_memory(world.communicator, "the places of all ranks' pieces", [&] {
    for (const std::int64_t one : counts) all.emplace_back(static_cast<std::size_t>(one));
  });
  MPI_Datatype strip = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Strip) / sizeof(std::int64_t), MPI_INT64_T, &strip);
  const Datatype type = Datatype::commit(strip);
  if (world.rank != 0) {
    MPI_Send(mine.data(), static_cast<int>(count), strip, 0, tag, world.communicator);
    return all;
  }
  std::copy(mine.begin(), mine.end(), all.front().begin());
  for (int rank = 1; rank < world.size; ++rank) {
    Strips& strips = all[static_cast<std::size_t>(rank)];
    MPI_Recv(strips.data(), static_cast<int>(strips.size()), strip, rank, tag, world.communicator,
             MPI_STATUS_IGNORE);
  }
  return all;
}

class Rank0Way final : public Way {
 public:
  Rank0Way(const World& world, const Layout& layout)
      : world_(world), layout_(layout), strips_(gather_strips(world, layout.file)) {
    for (const Strips& strips : strips_) packed_strips_.push_back({{0, byte_count(strips), 0, 1}});
    agree_on_memory(world.communicator, "the bytes on their way to and from rank 0", [&] {
      packed_.resize(slab_size);
      if (world.rank == 0) slab_.resize(slab_size);
    });
  }

  std::string open(const std::string& path, bool writing) override {
    if (world_.rank != 0) return {};
    const std::string error = file_.open(path, writing ? O_CREAT | O_RDWR : O_RDONLY);
    open_ = error.empty();
    return error;
  }

  std::string move(bool writing, std::int64_t displacement, std::byte* memory) override {
    PieceCursor mine(layout_.file, layout_.memory);
    std::vector<PieceCursor> others;
    for (std::size_t rank = 1; rank < strips_.size(); ++rank) {
      others.emplace_back(strips_[rank], packed_strips_[rank]);
    }
    std::string error;
    for (std::int64_t first = 0; first < layout_.file_size; first += slab_size) {
      const std::int64_t end = std::min(first + slab_size, layout_.file_size);
      if (world_.rank != 0) {
        exchange_with_root(mine, end, writing, memory);
        continue;
      }
      const bool goes_on = open_ && error.empty();
      if (!writing && goes_on) {
        error = file_.read_at(displacement + first, slab_.data(),
                              static_cast<std::size_t>(end - first));
      }
      filled_.clear();
      copy_pieces(mine, first, end, writing, memory, 0);
      for (std::size_t i = 0; i < others.size(); ++i) {
        serve(others[i], static_cast<int>(i) + 1, first, end, writing);
      }
      if (writing && goes_on) error = write_slab(displacement, first, end);
    }
    return error;
  }

  std::string sync() override { return open_ ? file_.sync() : std::string(); }
  std::string close() override { return file_.close(); }

 private:
  /// A rank other than 0: sends or receives its bytes before file offset `end`.
  void exchange_with_root(PieceCursor& mine, std::int64_t end, bool writing, std::byte* memory) {
    if (!mine.has_before(end)) return;
    const bool direct = layout_.is_contiguous_in_memory();
    const std::int64_t begin = direct ? mine.memory_offset() : 0;
    std::byte* const at = direct ? memory + begin : packed_.data();
    const std::int64_t most = direct ? std::min(slab_size, layout_.memory_size - begin) : slab_size;
    if (!writing) receive(at, most, 0);
    const std::int64_t count =
        direct ? mine.skip_until(end) : copy_packed(mine, end, writing, memory);
    if (writing) send(at, count, 0);
  }

  /// Returns how many bytes it copied.
  std::int64_t copy_packed(PieceCursor& pieces, std::int64_t end, bool packing, std::byte* memory) {
    std::byte* at = packed_.data();
    for (Piece piece = pieces.next(end); piece.length > 0; piece = pieces.next(end)) {
      std::byte* place = memory + piece.memory_offset;
      std::memcpy(packing ? at : place, packing ? place : at,
                  static_cast<std::size_t>(piece.length));
      at += piece.length;
    }
    return at - packed_.data();
  }

  /// Rank 0: puts the bytes of `rank` into the slab, or sends them to it.
  void serve(PieceCursor& pieces, int rank, std::int64_t first, std::int64_t end, bool writing) {
    if (!pieces.has_before(end)) return;
    if (writing) receive(packed_.data(), slab_size, rank);
    const std::int64_t count =
        copy_pieces(pieces, first, end, writing, packed_.data(), pieces.memory_offset());
    if (!writing) send(packed_.data(), count, rank);
  }

  /// Copies what lies before file offset `end` between the slab, which begins at `first`, and
  /// `memory`, which begins at memory offset `memory_first`. Returns how many bytes.
  std::int64_t copy_pieces(PieceCursor& pieces, std::int64_t first, std::int64_t end, bool writing,
                           std::byte* memory, std::int64_t memory_first) {
    std::int64_t total = 0;
    const bool has_gaps = layout_.total_bytes < layout_.file_size;
    for (Piece piece = pieces.next(end); piece.length > 0; piece = pieces.next(end)) {
      std::byte* in_slab = slab_.data() + (piece.file_offset - first);
      std::byte* place = memory + (piece.memory_offset - memory_first);
      std::memcpy(writing ? in_slab : place, writing ? place : in_slab,
                  static_cast<std::size_t>(piece.length));
      if (writing && has_gaps) filled_.emplace_back(piece.file_offset, piece.length);
      total += piece.length;
    }
    return total;
  }

  /// Writes the slab; where the layout has gaps, only what the ranks put there.
  std::string write_slab(std::int64_t displacement, std::int64_t first, std::int64_t end) {
    if (layout_.total_bytes == layout_.file_size) filled_ = {{first, end - first}};
    std::sort(filled_.begin(), filled_.end());
    std::string error;
    for (std::size_t i = 0; error.empty() && i < filled_.size();) {
      const std::int64_t begin = filled_[i].first;
      std::int64_t stop = begin;
      for (; i < filled_.size() && filled_[i].first == stop; ++i) stop += filled_[i].second;
      error = file_.write_at(displacement + begin, slab_.data() + (begin - first),
                             static_cast<std::size_t>(stop - begin));
    }
    return error;
  }

  void send(const std::byte* data, std::int64_t count, int rank) {
    MPI_Send(data, static_cast<int>(count), MPI_BYTE, rank, 0, world_.communicator);
  }

  /// At most so many bytes.
  void receive(std::byte* data, std::int64_t most, int rank) {
    MPI_Recv(data, static_cast<int>(most), MPI_BYTE, rank, 0, world_.communicator,
             MPI_STATUS_IGNORE);
  }

  const World& world_;
  const Layout& layout_;
  std::vector<Strips> strips_;         ///< rank 0: in the file, of all ranks
  std::vector<Strips> packed_strips_;  ///< rank 0: the same bytes one after the other
  std::vector<std::byte> slab_;
  std::vector<std::byte> packed_;
  std::vector<std::pair<std::int64_t, std::int64_t>> filled_;  ///< of the slab: offset, length
  PosixFile file_;
  bool open_ = false;
};

}  // namespace

std::unique_ptr<Way> make_rank0_way(const World& world, const Layout& layout) {
  return std::make_unique<Rank0Way>(world, layout);
}

}  // namespace headrace::bench
