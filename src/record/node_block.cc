#include <cstring>
#include <new>
#include <type_traits>

#include "record/job_record.h"

namespace headrace::record {
namespace {

/// What a block begins with. Sender and receiver are of one build.
struct BlockHead {
  JobSummary summary;
  std::uint64_t sections_size;
  std::uint32_t sections_count;
  std::uint32_t facts;       ///< pairs of texts
  std::uint32_t left_out;    ///< texts, behind them
  std::uint32_t held_files;  ///< texts, behind these
};
static_assert(std::is_trivially_copyable_v<BlockHead>);

void append_text(std::string& out, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out += text;
}

/// Takes parts off the front of bytes; nothing more once they were too few.
class Parts {
 public:
  explicit Parts(std::string_view bytes) : rest_(bytes) {}

  bool is_good() const { return is_good_; }
  bool is_empty() const { return rest_.empty(); }

  std::string_view take(std::uint64_t length) {
    is_good_ = is_good_ && length <= rest_.size();
    if (!is_good_) return {};
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }
  std::string text() {
    std::uint32_t length = 0;
    const std::string_view packed = take(sizeof length);
    if (is_good_) std::memcpy(&length, packed.data(), sizeof length);
    return std::string(take(length));
  }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace

std::string pack_node(const GatheredNode& node) {
  const NodeRecord& record = node.record;
  const BlockHead head{record.summary,
                       record.sections.bytes.size(),
                       record.sections.count,
                       static_cast<std::uint32_t>(record.facts.size()),
                       static_cast<std::uint32_t>(node.left_out.size()),
                       static_cast<std::uint32_t>(record.held_files.size())};
  std::string block;
  block.reserve(sizeof head + record.sections.bytes.size() + 4096);
  block.append(reinterpret_cast<const char*>(&head), sizeof head);
  block += record.sections.bytes;
  for (const auto& [name, value] : record.facts) {
    append_text(block, name);
    append_text(block, value);
  }
  for (const std::string& each : node.left_out) append_text(block, each);
  for (const std::string& each : record.held_files) append_text(block, each);
  return block;
}

Result<GatheredNode> unpack_node(std::string_view bytes) {
  try {
    Parts parts(bytes);
    BlockHead head{};
    const std::string_view packed = parts.take(sizeof head);
    if (parts.is_good()) std::memcpy(&head, packed.data(), sizeof head);
    GatheredNode node;
    node.record.summary = head.summary;
    node.record.sections.bytes = std::string(parts.take(head.sections_size));
    node.record.sections.count = head.sections_count;
    for (std::uint32_t i = 0; i < head.facts && parts.is_good(); ++i) {
      std::string name = parts.text();
      node.record.facts.emplace_back(std::move(name), parts.text());
    }
    for (std::uint32_t i = 0; i < head.left_out && parts.is_good(); ++i) {
      node.left_out.push_back(parts.text());
    }
    for (std::uint32_t i = 0; i < head.held_files && parts.is_good(); ++i) {
      node.record.held_files.push_back(parts.text());
    }
    if (!parts.is_good() || !parts.is_empty()) {
      return Error(ErrorClass::other, 0, "a node's part of the record came damaged");
    }
    return node;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace headrace::record
