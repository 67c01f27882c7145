// Views and positions.
#include <algorithm>
#include <cstring>

#include "abi/flavour.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/error.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/hint.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

/// Checks one rank's arguments of MPI_File_set_view and fills `view` from them.
Error describe(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
               const char* datarep, engine::View& view) {
  // MPI_DISPLACEMENT_CURRENT, a negative number, is for MPI_MODE_SEQUENTIAL only, which the library
  // itself serves.
  if (displacement < 0) {
    return {ErrorClass::argument, 0,
            "the displacement is " + std::to_string(displacement) +
                " (it must not be negative, and MPI_DISPLACEMENT_CURRENT needs "
                "MPI_MODE_SEQUENTIAL), give bytes from the beginning of the file"};
  }
  const auto element = decode_type(etype);
  if (!element) return element.error();
  const auto visible = decode_type(filetype);
  if (!visible) return visible.error();
  const ByteCount etype_size = element.value()->size();
  if (etype_size > 0 && visible.value()->size() % etype_size != 0) {
    return {ErrorClass::argument, 0,
            "the filetype has " + std::to_string(visible.value()->size()) +
                " bytes (no whole number of etypes of " + std::to_string(etype_size) +
                "), build it from the etype"};
  }
  if (Error error = require(datarep, "datarep")) return error;
  if (std::strcmp(datarep, "native") != 0) {
    return {ErrorClass::unsupported_datarep, 0,
            std::string("the data representation '") + datarep +
                "' is not available with Headrace (only 'native' is carried yet), use 'native' or "
                "run this program with HEADRACE_DISABLE=1"};
  }
  view.displacement = displacement;
  view.etype = element.value();
  view.filetype = visible.value();
  view.datarep = datarep;
  return {};
}

/// Keeps handles of the types for MPI_File_get_view: the program may free its own.
Error keep_types(OpenFile& file, MPI_Datatype etype, MPI_Datatype filetype) {
  const auto held_etype = hold_type(etype);
  if (!held_etype) return held_etype.error();
  const auto held_filetype = hold_type(filetype);
  if (!held_filetype) {
    release_type(held_etype.value());
    return held_filetype.error();
  }
  release_type(file.etype);
  release_type(file.filetype);
  file.etype = held_etype.value();
  file.filetype = held_filetype.value();
  return {};
}

}  // namespace

Error set_view(OpenFile& file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
               const char* datarep, MPI_Info info) {
  abi::catch_large_counts();
  engine::View view;
  Error problem = describe(displacement, etype, filetype, datarep, view);
  if (!problem) problem = keep_types(file, etype, filetype);
  if (problem) {
    // The others count on this rank: it takes part with the view it has.
    const Error error = file.file->set_view(file.file->current_view());
    return error ? error : problem;
  }
  if (Error error = file.file->set_view(std::move(view))) return error;
  return info == MPI_INFO_NULL ? Error{} : file.file->set_hints(hints_of(info));
}

Error get_view(OpenFile& file, MPI_Offset* displacement, MPI_Datatype* etype,
               MPI_Datatype* filetype, char* datarep) {
  for (const auto& [pointer, name] : {std::pair<const void*, const char*>(displacement, "disp"),
                                      {etype, "etype"},
                                      {filetype, "filetype"},
                                      {datarep, "datarep"}}) {
    if (Error error = require(pointer, name)) return error;
  }
  const auto own_etype = hold_type(file.etype);
  if (!own_etype) return own_etype.error();
  const auto own_filetype = hold_type(file.filetype);
  if (!own_filetype) return own_filetype.error();
  const engine::View& view = file.file->current_view();
  *displacement = view.displacement;
  *etype = own_etype.value();
  *filetype = own_filetype.value();
  const std::size_t length = std::min<std::size_t>(view.datarep.size(), MPI_MAX_DATAREP_STRING - 1);
  std::memcpy(datarep, view.datarep.data(), length);
  datarep[length] = '\0';
  return {};
}

Error type_extent(MPI_Datatype datatype, std::int64_t& extent) {
  const auto type = decode_type(datatype);
  if (!type) return type.error();
  extent = type.value()->extent();
  return {};
}

Error seek(OpenFile& file, MPI_Offset offset, int whence) {
  switch (whence) {
    case MPI_SEEK_SET: return file.file->seek(offset, engine::Whence::set);
    case MPI_SEEK_CUR: return file.file->seek(offset, engine::Whence::current);
    case MPI_SEEK_END: return file.file->seek(offset, engine::Whence::end);
    default:
      return {ErrorClass::argument, 0,
              "the argument whence is " + std::to_string(whence) +
                  " (no such place), give MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END"};
  }
}

Error get_position(OpenFile& file, MPI_Offset* offset) {
  if (Error error = require(offset, "offset")) return error;
  *offset = file.file->position();
  return {};
}

Error get_byte_offset(OpenFile& file, MPI_Offset offset, MPI_Offset* displacement) {
  if (Error error = require(displacement, "disp")) return error;
  if (offset < 0) {
    return {ErrorClass::argument, 0,
            "the offset is " + std::to_string(offset) +
                " (it must not be negative), check for overflow"};
  }
  const auto found = file.file->byte_offset(offset);
  if (!found) return found.error();
  *displacement = found.value();
  return {};
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
