#include "fuzz_gather.h"

#include <cstring>
#include <string>

namespace headrace::fuzz {
namespace {

class Writer {
 public:
  void number(std::int64_t value) { raw(&value, sizeof value); }
  template <typename Bytes>
  void bytes(const Bytes& value) {
    number(std::ssize(value));
    raw(value.data(), value.size());
  }
  void optional(const std::optional<std::int64_t>& value) {
    number(value.has_value());
    number(value.value_or(0));
  }
  const std::vector<char>& data() const { return data_; }

 private:
  void raw(const void* from, std::size_t count) {
    const char* first = static_cast<const char*>(from);
    data_.insert(data_.end(), first, first + count);
  }
  std::vector<char> data_;
};

class Reader {
 public:
  Reader(const char* at, std::size_t count) : at_(at), end_(at + count) {}
  bool at_end() const { return at_ == end_; }
  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <typename Bytes>
  Bytes bytes() {
    const std::int64_t count = number();
    Bytes value(at_, at_ + count);
    at_ += count;
    return value;
  }
  std::optional<std::int64_t> optional() {
    const bool has_value = number() != 0;
    const std::int64_t value = number();
    return has_value ? std::optional(value) : std::nullopt;
  }

 private:
  const char* at_;
  const char* end_;
};

void write(Writer& writer, const FuzzFile& file) {
  writer.bytes(file.group_name());
  writer.number(std::ssize(file.problems()));
  for (const std::string& problem : file.problems()) writer.bytes(problem);
  writer.number(std::ssize(file.seen()));
  for (const auto& [id, seen] : file.seen()) {
    writer.number(id);
    writer.bytes(seen.error);
    writer.bytes(seen.message);
    writer.number(seen.bytes);
    writer.bytes(seen.memory);
    writer.optional(seen.value);
    writer.optional(seen.position);
    writer.number(seen.cancelled);
  }
  writer.number(std::ssize(file.images()));
  for (const auto& [id, image] : file.images()) {
    writer.number(id);
    writer.number(image.exists);
    writer.number(image.size);
    writer.number(std::ssize(image.pieces));
    for (const auto& [offset, bytes] : image.pieces) {
      writer.number(offset);
      writer.bytes(bytes);
    }
  }
}

Image read_image(Reader& reader) {
  Image image;
  image.exists = reader.number() != 0;
  image.size = reader.number();
  for (std::int64_t left = reader.number(); left > 0; --left) {
    const std::int64_t offset = reader.number();
    image.pieces[offset] = reader.bytes<std::vector<std::uint8_t>>();
  }
  return image;
}

void read(Reader& reader, int rank, Observations& observations) {
  const auto name = reader.bytes<std::string>();
  for (std::int64_t left = reader.number(); left > 0; --left) {
    observations.problems.push_back("rank " + std::to_string(rank) + ": " +
                                    reader.bytes<std::string>());
  }
  auto& of_rank = observations.of_rank[static_cast<std::size_t>(rank)];
  for (std::int64_t left = reader.number(); left > 0; --left) {
    Seen& seen = of_rank[static_cast<int>(reader.number())];
    seen.error = reader.bytes<std::string>();
    seen.message = reader.bytes<std::string>();
    seen.bytes = reader.number();
    seen.memory = reader.bytes<std::vector<std::uint8_t>>();
    seen.value = reader.optional();
    seen.position = reader.optional();
    seen.cancelled = reader.number() != 0;
  }
  for (std::int64_t left = reader.number(); left > 0; --left) {
    const int id = static_cast<int>(reader.number());
    observations.looks[{name, id}] = look_at(read_image(reader));
  }
}

}  // namespace

Observations gather(MPI_Comm comm, const std::vector<std::unique_ptr<FuzzFile>>& files) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Writer mine;
  for (const auto& file : files) write(mine, *file);
  const int count = static_cast<int>(mine.data().size());
  std::vector<int> counts(static_cast<std::size_t>(size));
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::vector<int> displacements{0};
  for (const int of_rank : counts) displacements.push_back(displacements.back() + of_rank);
  std::vector<char> all(static_cast<std::size_t>(displacements.back()));
  MPI_Gatherv(mine.data().data(), count, MPI_CHAR, all.data(), counts.data(), displacements.data(),
              MPI_CHAR, 0, comm);
  Observations observations;
  if (rank != 0) return observations;
  observations.of_rank.resize(static_cast<std::size_t>(size));
  for (int from = 0; from < size; ++from) {
    const auto index = static_cast<std::size_t>(from);
    Reader reader(all.data() + displacements[index], static_cast<std::size_t>(counts[index]));
    while (!reader.at_end()) read(reader, from, observations);
  }
  return observations;
}

}  // namespace headrace::fuzz
