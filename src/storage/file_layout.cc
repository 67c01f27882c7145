#include "storage/file_layout.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/rounding.h"
#include "base/settings.h"
#include "base/uninterrupted.h"
#include "storage/dvs.h"
#include "storage/given_facts.h"
#include "storage/gluster.h"
#include "storage/kinds.h"
#include "storage/lustre.h"
#include "storage/mapped_text.h"
#include "storage/mounts.h"

namespace headrace::storage {
namespace {

constexpr ByteCount kLargestStripe = ByteCount{1} << 30;
constexpr ByteCount kLargestRequest = ByteCount{1} << 30;

std::int64_t number_attribute(int descriptor, const char* name) {
  std::array<char, 32> text{};
  const ssize_t len = fgetxattr(descriptor, name, text.data(), text.size());
  std::int64_t number = 0;
  if (len > 0) std::from_chars(text.data(), text.data() + len, number);
  return number;
}

/// A file with one object at a time continues in another one when that is full, wherever that lies.
void read_ceph(int descriptor, Layout& layout) {
  layout.stripes = {number_attribute(descriptor, "ceph.file.layout.stripe_unit"),
                    number_attribute(descriptor, "ceph.file.layout.stripe_count")};
  if (layout.stripes.count != 1) return;
  layout.is_endless = true;
  layout.stripes.size = number_attribute(descriptor, "ceph.file.layout.object_size");
}

/// What BeeGFS's client module fills in (its beegfs_ioctl.h).
struct BeegfsStripes {
  unsigned pattern;
  unsigned chunk_size;
  std::uint16_t targets;
};

void read_beegfs(int descriptor, Layout& layout) {
  constexpr unsigned long kGetStripes = _IOR('f', 25, BeegfsStripes);
  BeegfsStripes stripes{};
  if (ioctl(descriptor, kGetStripes, &stripes) == 0) {
    layout.stripes = {stripes.chunk_size, stripes.targets};
  }
}

/// What can be known of a file without asking a server.
struct Place {
  int kind = 0;
  ByteCount block_size = 0;
  std::optional<Mount> mount = {};
  GlusterVolume volume = {};
  bool keeps_nothing = false;         ///< as the mount tells, where the kind alone does not
  const GivenFacts* given = nullptr;  ///< null: nothing was said of it

  const Kind& facts() const { return kinds()[static_cast<std::size_t>(kind)]; }
  bool is_coherent() const {
    if (given != nullptr && given->is_coherent) return *given->is_coherent;
    return facts().is_coherent || keeps_nothing ||
           std::ranges::count(settings().coherent_fs, facts().name) > 0;
  }
};

/// What was said of a file system, by its kind or by any place where it is mounted. Replaces
/// escapes in the text.
const GivenFacts* given_for(const ReadFacts& given, std::string_view kind, std::uint64_t device,
                            std::span<char> mountinfo) noexcept {
  const GivenFacts* first = given.find(kind, "");
  std::string_view rest(mountinfo.data(), mountinfo.size());
  while (const auto line = next_mount_line(rest, gnu_dev_major(device), gnu_dev_minor(device))) {
    const auto begin = static_cast<std::size_t>(line->point.data() - mountinfo.data());
    const auto point = unescape(mountinfo.subspan(begin, line->point.size()));
    const GivenFacts* const said = given.find(kind, point);
    if (said != nullptr && (first == nullptr || said < first)) first = said;
  }
  return first;
}

Place place_of(int descriptor, const ReadFacts& given) {
  Place place;
  struct statfs status{};
  struct stat file{};
  if (fstatfs(descriptor, &status) != 0) return place;
  place.block_size = static_cast<ByteCount>(status.f_bsize);
  const auto magic = static_cast<std::uint64_t>(status.f_type) & 0xffffffff;
  const bool is_described = !given.facts.empty();
  std::optional<MappedText> mounts;
  if ((is_described || needs_mount(magic)) && fstat(descriptor, &file) == 0) {
    mounts.emplace(kMountInfo);
    place.mount =
        find_mount(mounts->text(), gnu_dev_major(file.st_dev), gnu_dev_minor(file.st_dev));
  }
  place.kind = find_kind(magic, place.mount ? place.mount->type : "");
  if (is_described) {
    place.given = given_for(given, place.facts().name, file.st_dev,
                            mounts ? mounts->bytes() : std::span<char>());
    if (place.given != nullptr) place.kind = place.given->kind.value_or(place.kind);
  }
  if (!place.mount) return place;
  if (place.facts().source == StripeSource::gluster) {
    place.volume = gluster_volume(place.mount->point).value_or(GlusterVolume{});
    place.keeps_nothing = place.volume.is_coherent;
  } else if (place.facts().source == StripeSource::dvs) {
    place.keeps_nothing = dvs_keeps_nothing(*place.mount);
  }
  return place;
}

/// Shards have locks of their own.
void read_gluster(const GlusterVolume& volume, Layout& layout) {
  if (volume.shard > 0) {
    layout.stripes = {volume.shard, 0};
  } else {
    layout.locks_whole_files = volume.locks_whole_files;
  }
}

void read_stripes(int descriptor, const Place& place, Layout& layout) {
  switch (place.facts().source) {
    case StripeSource::none: return;
    case StripeSource::block_size: layout.stripes = {place.block_size, 0}; return;
    case StripeSource::lustre:
      layout.stripes = lustre_stripes(descriptor).value_or(Stripes{});
      return;
    case StripeSource::ceph: read_ceph(descriptor, layout); return;
    case StripeSource::beegfs: read_beegfs(descriptor, layout); return;
    case StripeSource::gluster: read_gluster(place.volume, layout); return;
    case StripeSource::dvs:
      if (place.mount) layout.stripes = dvs_forwarding(*place.mount).stripes;
      return;
  }
}

/// Which mechanism can set stripes in the directory of `path`.
StripeControl control_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor =
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) return StripeControl::none;
  const StripeControl control = place_of(descriptor, given_facts()).facts().control;
  ::close(descriptor);
  return control;
}

/// Keeps the size of objects, in whole stripes.
int set_ceph_stripes(int descriptor, const StripingHints& hint) {
  ByteCount unit = number_attribute(descriptor, "ceph.file.layout.stripe_unit");
  std::int64_t count = number_attribute(descriptor, "ceph.file.layout.stripe_count");
  ByteCount object = number_attribute(descriptor, "ceph.file.layout.object_size");
  if (unit <= 0 || count <= 0 || object <= 0) return ENOTSUP;
  if (hint.stripes.size > 0) unit = hint.stripes.size;
  if (hint.stripes.count > 0) count = hint.stripes.count;
  object = object <= unit ? unit : object / unit * unit;
  const std::string text = "stripe_unit=" + std::to_string(unit) +
                           " stripe_count=" + std::to_string(count) +
                           " object_size=" + std::to_string(object);
  return fsetxattr(descriptor, "ceph.file.layout", text.data(), text.size(), 0) == 0 ? 0 : errno;
}

int set_stripes(int descriptor, StripeControl control, const StripingHints& hint) {
  return control == StripeControl::lustre ? set_lustre_stripes(descriptor, hint)
                                          : set_ceph_stripes(descriptor, hint);
}

int open_again(const std::string& path, int flags, int permissions) {
  return uninterrupted([&] { return ::open(path.c_str(), flags, permissions); });
}

}  // namespace

std::string name_of_kind(int kind) {
  const auto known = kinds();
  const bool is_known = kind >= 0 && static_cast<std::size_t>(kind) < known.size();
  return std::string(known[is_known ? kind : 0].name);
}

std::string explain_striping(const Layout& layout) {
  const std::string name = name_of_kind(layout.kind);
  switch (layout.outcome) {
    case StripingOutcome::not_asked: return "nothing was asked for";
    case StripingOutcome::applied: return "applied when the file was created";
    case StripingOutcome::file_exists:
      return "not applied (the file was there already), delete it first";
    case StripingOutcome::not_supported:
      return "not applied (programs cannot set stripes on " + name + ")" +
             (name == "dvs" ? ", set DVS_MAXNODES and DVS_BLOCKSIZE for the job" : "");
    case StripingOutcome::refused:
      return "not applied (" + name + " refused it: " + std::strerror(layout.system_error) + ")";
  }
  return {};
}

Stripes usable(const Stripes& stripes) {
  if (stripes.size <= 0 || stripes.size % kPage != 0 || stripes.size > kLargestStripe) return {};
  constexpr std::int64_t kMaxStripes = 65535;
  const bool has_count = stripes.count > 0 && stripes.count <= kMaxStripes;
  return {stripes.size, has_count ? stripes.count : 0};
}

Layout find_layout(int descriptor) {
  return find_layout(descriptor, given_facts());
}

Layout find_layout(int descriptor, const ReadFacts& given) {
  const Place place = place_of(descriptor, given);
  const Kind& kind = place.facts();
  Layout layout{
      .kind = place.kind, .is_coherent = place.is_coherent(), .block_size = place.block_size};
  read_stripes(descriptor, place, layout);
  if (place.given != nullptr) {
    layout.stripes.size = place.given->stripe_size.value_or(layout.stripes.size);
    layout.stripes.count = place.given->stripe_count.value_or(layout.stripes.count);
    layout.locks_whole_files = place.given->locks_whole_files.value_or(layout.locks_whole_files);
  }
  layout.best_request = layout.stripes.size;
  if (place.mount && !kind.request_option.empty()) {
    layout.best_request = place.mount->number(kind.request_option).value_or(0);
  }
  if (place.mount && kind.source == StripeSource::dvs) {
    layout.best_request = dvs_forwarding(*place.mount).block;
  }
  if (place.given != nullptr && place.given->request_size) {
    layout.best_request = *place.given->request_size;
  }
  if (layout.best_request < 0 || layout.best_request > kLargestRequest) layout.best_request = 0;
  return layout;
}

StripingOutcome expect_striping(const std::string& path, bool exists) {
  if (control_of(path) == StripeControl::none) return StripingOutcome::not_supported;
  return exists ? StripingOutcome::file_exists : StripingOutcome::applied;
}

bool is_coherent(int descriptor) {
  return place_of(descriptor, given_facts()).is_coherent();
}

namespace {

const Kind& kind_at(int kind) {
  assert(0 <= kind && kind < std::ssize(kinds()));
  return kinds()[static_cast<std::size_t>(kind)];
}

}  // namespace

bool has_lock_ahead(int kind) {
  return kind_at(kind).has_lock_ahead;
}

bool has_one_writer(int kind) {
  return kind_at(kind).has_one_writer;
}

bool extends_writes(int kind) {
  return kind_at(kind).extends_writes;
}

bool is_local(int kind) {
  return kind_at(kind).is_local;
}

/// What is written to an overlay stays on the node.
bool may_be_shared(long magic, std::uint64_t device, std::span<char> mountinfo,
                   const ReadFacts& given) noexcept {
  std::string_view rest(mountinfo.data(), mountinfo.size());
  const auto mount = next_mount_line(rest, gnu_dev_major(device), gnu_dev_minor(device));
  int kind = find_kind(static_cast<std::uint64_t>(magic) & 0xffffffff, mount ? mount->type : "");
  const GivenFacts* const said = given_for(given, kind_at(kind).name, device, mountinfo);
  if (said != nullptr) kind = said->kind.value_or(kind);
  return !kind_at(kind).is_local && kind_at(kind).name != "overlay";
}

bool may_be_shared(long magic, std::uint64_t device) noexcept {
  const ReadFacts& given = given_facts();
  if (given.facts.empty()) return may_be_shared(magic, device, {}, given);
  MappedText mounts(kMountInfo);
  return may_be_shared(magic, device, mounts.bytes(), given);
}

bool has_lasting_numbers(int kind) {
  return !kind_at(kind).may_renumber;
}

namespace {

/// Permissions that only the creation needed. What fails leaves the owner more than was asked for.
void take_back(int descriptor, int permissions) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return;
  static_cast<void>(fchmod(descriptor, status.st_mode & 07777 & ~static_cast<mode_t>(permissions)));
}

}  // namespace

Created create_striped(const std::string& path, int flags, int permissions,
                       const StripingHints& hint) {
  if (hint.is_empty()) return {open_again(path, flags, permissions)};
  const StripeControl control = control_of(path);
  if (control == StripeControl::none) {
    return {open_again(path, flags, permissions), StripingOutcome::not_supported};
  }
  const int delayed = control == StripeControl::lustre ? kLustreDelayedCreate : 0;
  // Whoever may not write it by its permissions could not open it anew.
  const int own = delayed != 0 ? permissions | S_IRUSR | S_IWUSR : permissions;
  Created created{open_again(path, flags | O_EXCL | delayed, own)};
  if (created.descriptor < 0) {
    // The file exists already: opened as it is.
    if (errno != EEXIST || (flags & O_EXCL) != 0) return created;
    return {open_again(path, flags, permissions), StripingOutcome::file_exists};
  }
  created.system_error = set_stripes(created.descriptor, control, hint);
  created.outcome = created.system_error == 0 ? StripingOutcome::applied : StripingOutcome::refused;
  if (delayed == 0) return created;
  // Opened anew, since a descriptor from before the layout has no objects to write to, and is
  // asynchronous.
  ::close(created.descriptor);
  created.descriptor = open_again(path, flags & ~(O_CREAT | O_EXCL), permissions);
  if (own != permissions && created.descriptor >= 0)
    take_back(created.descriptor, own & ~permissions);
  return created;
}

}  // namespace headrace::storage
