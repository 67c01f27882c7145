#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "exchange/part_message.h"
#include "parsers/target.h"
#include "storage/gluster.h"
#include "storage/lustre.h"
#include "storage/mounts.h"

// Parsers of what nodes tell each other about windows, and of what file systems tell.

namespace headrace::parsers {
namespace {

constexpr ByteCount kWindow = 4096;

/// Input in memory that is aligned to 8, as messages are received.
std::vector<std::uint64_t> aligned(const Input& input) {
  std::vector<std::uint64_t> words(input.size() / 8 + 1);
  if (!input.empty()) std::memcpy(words.data(), input.data(), input.size());
  return words;
}

/// A window's bytes with others behind it that must stay.
struct Window {
  explicit Window(int granule_shift) : memory{bytes.data(), 8 * kWindow, kWindow, granule_shift} {}
  bool is_kept_within() const {
    return std::ranges::all_of(std::span(bytes).subspan(kWindow),
                               [](std::byte byte) { return byte == std::byte{}; });
  }

  std::vector<std::byte> bytes = std::vector<std::byte>(kWindow + 4096);
  exchange::WindowMemory memory;
};

void check_part(std::span<const std::byte> message) {
  for (const int shift : {0, 3}) {
    Window window(shift);
    const exchange::Part part(window.memory, message);
    std::vector<plan::Coverage::Word> map(
        static_cast<std::size_t>(plan::Coverage::words_for(kWindow, shift)));
    plan::Coverage covered(map.data(), shift);
    if (part.is_part() && part.unpack(covered)) {
      ByteCount marked = 0;
      ByteCount begin = 0;
      ByteCount len = 0;
      for (ByteCount at = 0; covered.next_run(at, kWindow, begin, len); at = begin + len) {
        marked += len;
      }
      require(marked == part.bytes(), "other bytes are marked than were given");
    }
    if (part.is_request()) {
      std::vector<std::byte> packed(static_cast<std::size_t>(part.bytes()));
      const FileOffset end = window.memory.begin + (message.size() % 2 == 0 ? kWindow : 100);
      const ByteCount moved = part.move(Direction::read, end, packed.data());
      require(moved <= part.bytes(), "more bytes are answered than were asked for");
    }
    require(window.is_kept_within(), "bytes behind the window are written");
  }
}

/// A message may have one part, or several of which each is split off.
void run_part(const Input& input) {
  const std::vector<std::uint64_t> words = aligned(input);
  const auto message = std::as_bytes(std::span(words)).first(input.size());
  check_part(message);
  std::span<const std::byte> parts = message;
  while (!parts.empty()) {
    const std::byte* const begin = parts.data();
    const std::span<const std::byte> part = exchange::split_part(parts);
    require(part.data() == begin && !part.empty(), "a part begins elsewhere, or is empty");
    require(parts.empty() || parts.data() >= begin + part.size(), "parts overlap");
    check_part(part);
  }
}

std::vector<Input> part_corpus() {
  std::vector<Input> inputs;
  for (const int shift : {0, 3}) {
    Window window(shift);
    std::vector<plan::Coverage::Word> map(
        static_cast<std::size_t>(plan::Coverage::words_for(kWindow, shift)));
    plan::Coverage covered(map.data(), shift);
    covered.mark_strided(64, 16, 128, 20);
    covered.mark_strided(3000, 8, 8, 1);
    for (const bool gives : {false, true}) {
      std::vector<std::uint64_t> room(exchange::part_room(kWindow) / 8 + 1);
      const auto bytes = std::as_writable_bytes(std::span(room));
      const std::size_t size = gives ? exchange::write_part(window.memory, covered, bytes)
                                     : exchange::write_request(window.memory, covered, bytes);
      Input input(size);
      std::memcpy(input.data(), bytes.data(), size);
      Input twice = input;
      twice.resize(round_up(size, exchange::kPartAlignment));
      twice.insert(twice.end(), input.begin(), input.end());
      inputs.push_back(std::move(input));
      inputs.push_back(std::move(twice));
    }
  }
  return inputs;
}

void run_lustre_layout(const Input& input) {
  const auto stripes = storage::parse_lustre_layout(std::as_bytes(std::span(input)));
  if (!stripes) return;
  require(stripes->size > 0 && stripes->size <= UINT32_MAX, "no size of stripes");
  require(stripes->count >= 0 && stripes->count <= 2000, "no count of stripes");
}

std::vector<Input> lustre_layout_corpus() {
  const auto put = [](Input& bytes, std::size_t at, std::uint64_t number, std::size_t len) {
    std::memcpy(bytes.data() + at, &number, len);
  };
  Input plain(56);
  put(plain, 0, 0x0bd10bd0, 4);
  put(plain, 4, 1, 4);
  put(plain, 24, 1 << 20, 4);
  put(plain, 28, 4, 2);
  Input composite(32 + 2 * 48 + plain.size());
  put(composite, 0, 0x0bd60bd0, 4);
  put(composite, 14, 2, 2);
  for (const std::size_t entry : {32, 80}) {
    put(composite, entry + 16, entry == 80 ? UINT64_MAX : 1 << 20, 8);
    put(composite, entry + 24, 128, 4);
    put(composite, entry + 28, plain.size(), 4);
  }
  std::ranges::copy(plain, composite.begin() + 128);
  return {plain, composite};
}

void run_mount_info(const Input& input) {
  const std::string text(input.begin(), input.end());
  const auto mount = storage::find_mount(text, 98, 0);
  if (!mount) return;
  require(text.find(mount->type) != std::string::npos, "a type that is not there");
  require(text.find(mount->options) != std::string::npos, "options that are not there");
  const auto size = mount->number("wsize");
  require(!size || mount->options.find(std::to_string(*size)) != std::string::npos ||
              mount->options.find("wsize=") != std::string::npos,
          "a number that is not there");
}

std::vector<Input> mount_info_corpus() {
  const std::string text =
      "36 35 98:0 /root /mount rw,noatime master:1 - nfs4 server:/x rw,vers=4.2,wsize=1048576\n"
      "37 35 0:22 / /proc rw - proc proc rw\n";
  return {Input(text.begin(), text.end())};
}

void run_gluster_volume(const Input& input) {
  const std::string text(input.begin(), input.end());
  const storage::GlusterVolume volume = storage::parse_gluster_volume(text, text);
  require(volume.shard >= 0, "a shard of less than nothing");
  if (volume.is_coherent) {
    require(text.find("--direct-io-mode") != std::string::npos, "coherent by nothing");
  }
}

std::vector<Input> gluster_volume_corpus() {
  const std::string text =
      "volume a\n    type features/shard\n    option shard-block-size 4MB\nend-volume\n"
      "volume b\n    type cluster/disperse\n    type performance/io-threads\nend-volume\n"
      "\"glusterfs --direct-io-mode=enable --attribute-timeout=0 /mnt\"\n";
  return {Input(text.begin(), text.end())};
}

}  // namespace

const Target part_target{"part", run_part, part_corpus};
const Target lustre_layout_target{"lustre_layout", run_lustre_layout, lustre_layout_corpus};
const Target mount_info_target{"mount_info", run_mount_info, mount_info_corpus};
const Target gluster_volume_target{"gluster_volume", run_gluster_volume, gluster_volume_corpus};

}  // namespace headrace::parsers
