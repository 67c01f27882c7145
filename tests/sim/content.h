#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

namespace headrace::sim {

/// The bytes of a file. Holes cost nothing, and copies share what they have in common.
class Content {
 public:
  std::int64_t size() const { return size_; }

  /// Cuts the file, or lengthens it by zeros.
  void resize(std::int64_t size) {
    if (size < size_) {
      const std::int64_t page = size / kPage;
      if (size % kPage != 0 && pages_.contains(page)) {
        Page& last = own(page);
        std::fill(last.begin() + size % kPage, last.end(), std::uint8_t{0});
      }
      pages_.erase(pages_.lower_bound((size + kPage - 1) / kPage), pages_.end());
    }
    size_ = size;
  }

  /// Requires offset + bytes.size() <= size().
  void read(std::int64_t offset, std::span<std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const std::int64_t within = offset % kPage;
      const std::size_t len = std::min(bytes.size(), static_cast<std::size_t>(kPage - within));
      const auto found = pages_.find(offset / kPage);
      if (found == pages_.end()) {
        std::fill_n(bytes.begin(), len, std::uint8_t{0});
      } else {
        std::copy_n(found->second->begin() + within, len, bytes.begin());
      }
      bytes = bytes.subspan(len);
      offset += static_cast<std::int64_t>(len);
    }
  }
  std::uint8_t at(std::int64_t offset) const {
    const auto found = pages_.find(offset / kPage);
    return found == pages_.end() ? std::uint8_t{0}
                                 : (*found->second)[static_cast<std::size_t>(offset % kPage)];
  }

  void write(std::int64_t offset, std::span<const std::uint8_t> bytes) {
    size_ = std::max(size_, offset + std::ssize(bytes));
    while (!bytes.empty()) {
      const std::int64_t within = offset % kPage;
      const std::size_t len = std::min(bytes.size(), static_cast<std::size_t>(kPage - within));
      std::copy_n(bytes.begin(), len, own(offset / kPage).begin() + within);
      bytes = bytes.subspan(len);
      offset += static_cast<std::int64_t>(len);
    }
  }
  void put(std::int64_t offset, std::uint8_t byte) { write(offset, {&byte, 1}); }

  /// The first byte in which the two differ; the shorter one's size where it is a part of the
  /// other.
  static std::optional<std::int64_t> difference(const Content& a, const Content& b) {
    std::optional<std::int64_t> first;
    const auto look = [&](std::int64_t number) {
      const Page& left = a.page(number);
      const Page& right = b.page(number);
      if (&left == &right) return;
      const auto [at, other] = std::ranges::mismatch(left, right);
      if (at == left.end()) return;
      const std::int64_t offset = number * kPage + (at - left.begin());
      first = std::min(first.value_or(offset), offset);
    };
    for (const auto& [number, page] : a.pages_) look(number);
    for (const auto& [number, page] : b.pages_) look(number);
    if (a.size_ != b.size_) {
      const std::int64_t shorter = std::min(a.size_, b.size_);
      first = std::min(first.value_or(shorter), shorter);
    }
    return first;
  }

 private:
  static constexpr std::int64_t kPage = 4096;
  using Page = std::array<std::uint8_t, kPage>;

  const Page& page(std::int64_t number) const {
    static constexpr Page kZeros{};
    const auto found = pages_.find(number);
    return found == pages_.end() ? kZeros : *found->second;
  }
  /// The page, shared with no copy.
  Page& own(std::int64_t number) {
    std::shared_ptr<Page>& page = pages_[number];
    if (!page) {
      page = std::make_shared<Page>();
    } else if (page.use_count() > 1) {
      page = std::make_shared<Page>(*page);
    }
    return *page;
  }

  std::int64_t size_ = 0;
  std::map<std::int64_t, std::shared_ptr<Page>> pages_;
};

}  // namespace headrace::sim
