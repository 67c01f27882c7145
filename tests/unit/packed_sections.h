#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "record/packing.h"

namespace headrace::record {

/// Throws where what is packed is not as the format's page has it.
inline void require_packed(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Takes apart what is packed. Made from docs/record-format.md, sharing no code with the packing.
class PackedBytes {
 public:
  explicit PackedBytes(std::string_view bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }
  std::string_view take(std::size_t length) {
    require_packed(length <= rest_.size(), "it is cut off");
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
  require_packed(packed.is_empty(), "bytes lie behind a column's last value");
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
    require_packed(columns.size() == kColumns, "a row has another number of columns");
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
    require_packed(bytes.take(4) == "HRS1", "no section begins here");
    const std::uint32_t table = bytes.number();
    UnpackedTable& made = tables[static_cast<Table>(table)];
    made.node = bytes.number();
    made.rows = bytes.number();
    const std::uint32_t length = bytes.number();
    const std::uint32_t check = bytes.number();
    const std::string_view body = bytes.take(length);
    require_packed(check == crc32(body), "a checksum differs");
    require_packed(made.rows <= body.size(), "more rows than bytes");
    PackedBytes columns(body);
    while (!columns.is_empty()) made.columns.push_back(unpack_column(columns, made.rows));
    require_packed(made.columns.size() == kColumnCounts.at(table), "columns are missing");
  }
  require_packed(count == sections.count, "the number of sections differs");
  return tables;
}

}  // namespace headrace::record
