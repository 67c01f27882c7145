#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

namespace headrace::record {

/// A node's ranks, and what becomes of them.
class MadeNode : public ::testing::Test {
 protected:
  MadeImage& rank(int number, int of = 2) {
    made_.push_back(std::make_unique<MadeImage>(folder_.path, "job", number, of));
    return *made_.back();
  }

  void gather(const ClockReading& now = {}) {
    std::vector<Image> images;
    for (const auto& each : made_) {
      images.push_back(std::move(Image::read(each->image->path()).value()));
    }
    record_ = make_node_record(images, 5, now);
    tables_ = unpack(record_.sections);
  }

  template <class Row>
  std::vector<Row> rows(Table table) {
    std::vector<Row> found;
    for (std::size_t i = 0; i < tables_[table].rows; ++i) {
      found.push_back(tables_[table].row<Row>(i));
    }
    return found;
  }
  std::string text(std::int64_t place) {
    return place < 0 ? "" : tables_[Table::texts].columns[0].texts.at(place);
  }

  PrivateFolder folder_;
  std::vector<std::unique_ptr<MadeImage>> made_;
  NodeRecord record_;
  std::map<Table, UnpackedTable> tables_;
};

}  // namespace headrace::record
