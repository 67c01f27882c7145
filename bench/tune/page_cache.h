#pragma once

#include <string>

namespace headrace::bench::tune {

/// Whether a file's data lies in this node's page cache, from which reads would tell nothing of the
/// file system.
class PageCache {
 public:
  explicit PageCache(std::string file) : file_(std::move(file)) {}

  /// Writes the file's data back and puts it out of the page cache. One rank of a node calls it
  /// while the others wait. Throws Failure if the file cannot be looked at.
  void drop();
  /// Whether it stayed there once, as on file systems that have no other place for it (tmpfs). Then
  /// drop() does no more.
  bool keeps() const { return keeps_; }

 private:
  std::string file_;
  bool keeps_ = false;
};

}  // namespace headrace::bench::tune
