#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/packing.h"

namespace headrace::record {

/// Takes apart what is packed. Made from docs/record-format.md, sharing no code with the packing.
class PackedBytes {
 public:
  explicit PackedBytes(std::string_view bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }
  std::string_view take(std::size_t length) {
    EXPECT_LE(length, rest_.size());
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::uint32_t number() {
    std::uint32_t value = 0;
    const std::string_view bytes = take(4);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) break;
    }
    return value;
  }
  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
  }

 private:
  std::string_view rest_;
};

struct UnpackedColumn {
  int packed = 0;
  std::size_t length = 0;
  std::vector<std::int64_t> values;
  std::vector<std::string> texts;
};

inline UnpackedColumn unpack_column(PackedBytes& bytes, std::size_t rows) {
  UnpackedColumn column;
  column.packed = bytes.take(1)[0];
  column.length = bytes.number();
  PackedBytes packed(bytes.take(column.length));
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (column.packed == 3) {
      const std::uint64_t length = packed.varint();
      column.texts.emplace_back(packed.take(length));
    } else if (column.packed == 0 && i > 0) {
      column.values.push_back(column.values[0]);
    } else {
      const auto value = static_cast<std::uint64_t>(packed.signed_varint());
      before = column.packed == 2 ? before + value : value;
      column.values.push_back(static_cast<std::int64_t>(before));
    }
  }
  EXPECT_TRUE(packed.is_empty());
  return column;
}

struct UnpackedTable {
  std::uint32_t node = 0;
  std::uint32_t rows = 0;
  std::vector<UnpackedColumn> columns;

  /// The values of a row, in the order of the schema.
  template <class Row>
  Row row(std::size_t place) const {
    constexpr std::size_t kColumns = sizeof(Row) / sizeof(std::int64_t);
    EXPECT_EQ(columns.size(), kColumns);
    std::array<std::int64_t, kColumns> values{};
    for (std::size_t i = 0; i < kColumns; ++i) values[i] = columns[i].values.at(place);
    return std::bit_cast<Row>(values);
  }
};

inline std::map<Table, UnpackedTable> unpack(const Sections& sections) {
  std::map<Table, UnpackedTable> tables;
  PackedBytes bytes(sections.bytes);
  std::uint32_t count = 0;
  for (; !bytes.is_empty(); ++count) {
    EXPECT_EQ(bytes.take(4), "HRS1");
    const std::uint32_t table = bytes.number();
    UnpackedTable& made = tables[static_cast<Table>(table)];
    made.node = bytes.number();
    made.rows = bytes.number();
    const std::uint32_t length = bytes.number();
    const std::uint32_t check = bytes.number();
    const std::string_view body = bytes.take(length);
    EXPECT_EQ(check, crc32(body));
    EXPECT_LE(made.rows, body.size());
    PackedBytes columns(body);
    while (!columns.is_empty()) made.columns.push_back(unpack_column(columns, made.rows));
    EXPECT_EQ(made.columns.size(), kColumnCounts.at(table));
  }
  EXPECT_EQ(count, sections.count);
  return tables;
}

}  // namespace headrace::record
