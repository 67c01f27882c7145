// Views and positions.
#include <algorithm>
#include <cstring>
#include <new>

#include "abi/flavour.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/datatype_elements.h"
#include "abi/flavour/error.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/hint.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

/// Checks what MPI 4.1, section 14.1.1, requires of both types of a view. The standard names no
/// error class for it; MPI_ERR_IO is ROMIO's.
Error check_order(const view::Type& type, const char* name, bool is_written) {
  if (type.true_lower_bound() < 0) {
    return {
        ErrorClass::io, 0,
        std::string("the ") + name +
            " has negative displacements (the MPI standard forbids them in a view), move it and "
            "use the view's displacement"};
  }
  if (!type.pieces_ascend()) {
    return {ErrorClass::io, 0,
            std::string("the pieces of the ") + name +
                " go backwards (in a view the MPI standard wants displacements that do not "
                "decrease), sort them"};
  }
  if (is_written && !type.pieces_are_apart()) {
    return {ErrorClass::io, 0,
            std::string("pieces of the ") + name +
                " overlap (in a view of a file opened for writing they must not), open the file "
                "with MPI_MODE_RDONLY or use another type"};
  }
  return {};
}

/// Translates one rank's arguments of MPI_File_set_view for the engine: offsets in the file are
/// those of its representation. Sets `representation`.
Result<file::View> describe(int amode, MPI_Offset displacement, MPI_Datatype etype,
                            MPI_Datatype filetype, const char* datarep,
                            const Representation*& representation) try {
  auto element = decode_type(etype);
  if (!element) return element.error();
  auto visible = decode_type(filetype);
  if (!visible) return visible.error();
  if (Error error = require(datarep, "datarep")) return error;
  const std::string name = common_name(datarep);
  const auto found = find_representation(name);
  if (!found) return found.error();
  representation = found.value();
  if (representation != nullptr) {
    element = build_file_type(etype, *representation);
    if (!element) return element.error();
    visible = build_file_type(filetype, *representation);
    if (!visible) return visible.error();
  }
  const bool is_written = (amode & MPI_MODE_RDONLY) == 0;
  if (Error error = check_order(*element.value(), "etype", is_written)) return error;
  if (Error error = check_order(*visible.value(), "filetype", is_written)) return error;
  file::View view{displacement, element.value(), visible.value(), name};
  if (displacement == MPI_DISPLACEMENT_CURRENT) {
    view.displacement = 0;
    view.from_shared_pointer = true;
  }
  return view;
} catch (const std::bad_alloc&) {
  // Returned instead of thrown: the others need this rank.
  return Error{ErrorClass::no_memory, 0, {}};
}

/// A view's types, kept for MPI_File_get_view: the program may free its own.
struct KeptTypes {
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;

  void release() const {
    for (const MPI_Datatype type : {etype, filetype}) {
      if (type != MPI_DATATYPE_NULL) release_type(type);
    }
  }
};

Error keep(MPI_Datatype etype, MPI_Datatype filetype, KeptTypes& kept) {
  const auto kept_etype = keep_type(etype);
  if (!kept_etype) return kept_etype.error();
  kept.etype = kept_etype.value();
  const auto kept_filetype = keep_type(filetype);
  if (!kept_filetype) return kept_filetype.error();
  kept.filetype = kept_filetype.value();
  return {};
}

Result<file::Whence> place_of(int whence) {
  switch (whence) {
    case MPI_SEEK_SET: return file::Whence::set;
    case MPI_SEEK_CUR: return file::Whence::current;
    case MPI_SEEK_END: return file::Whence::end;
    default:
      return Error{ErrorClass::argument, 0,
                   "the argument whence is " + std::to_string(whence) +
                       " (no such place), give MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END"};
  }
}

}  // namespace

Error set_view(OpenFile& file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
               const char* datarep, MPI_Info info) {
  abi::catch_unexported();
  KeptTypes kept;
  const Representation* representation = nullptr;
  Result<file::View> view =
      describe(file.amode, displacement, etype, filetype, datarep, representation);
  file::Hints hints;
  if (view) {
    Error problem = attempt([&] {
      hints = hints_of(info);
      return keep(etype, filetype, kept);
    });
    if (problem) view = std::move(problem);
  }
  // The others need this rank, even if it has no view.
  if (Error error = file.file->set_view(std::move(view), hints)) {
    kept.release();
    return error;
  }
  KeptTypes{file.etype, file.filetype}.release();
  file.etype = kept.etype;
  file.filetype = kept.filetype;
  file.representation = representation;
  return {};
}

Error get_view(OpenFile& file, MPI_Offset* displacement, MPI_Datatype* etype,
               MPI_Datatype* filetype, char* datarep) {
  for (const auto& [pointer, name] : {std::pair<const void*, const char*>(displacement, "disp"),
                                      {etype, "etype"},
                                      {filetype, "filetype"},
                                      {datarep, "datarep"}}) {
    if (Error error = require(pointer, name)) return error;
  }
  const auto own_etype = got_back(file.etype);
  if (!own_etype) return own_etype.error();
  const auto own_filetype = got_back(file.filetype);
  if (!own_filetype) return own_filetype.error();
  const file::View view = file.file->current_view();
  *displacement = view.displacement;
  *etype = own_etype.value();
  *filetype = own_filetype.value();
  const std::size_t length = std::min<std::size_t>(view.datarep.size(), MPI_MAX_DATAREP_STRING - 1);
  std::memcpy(datarep, view.datarep.data(), length);
  datarep[length] = '\0';
  return {};
}

Error type_extent(const OpenFile& file, MPI_Datatype datatype, std::int64_t& extent) {
  auto type = decode_uncommitted_type(datatype);
  if (!type) return type.error();
  if (file.representation != nullptr) type = build_file_type(datatype, *file.representation);
  if (!type) return type.error();
  extent = type.value()->extent();
  return {};
}

Error seek(OpenFile& file, MPI_Offset offset, int whence) {
  const auto place = place_of(whence);
  if (!place) return place.error();
  return file.file->positions().seek(offset, place.value());
}

Error seek_shared(OpenFile& file, MPI_Offset offset, int whence) {
  const auto place = place_of(whence);
  if (place) return file.file->positions().seek_shared(offset, place.value());
  // The others need this rank: it takes part with an invalid offset.
  const Error refused = file.file->positions().seek_shared(-1, file::Whence::set);
  return place.error();
}

Error get_position_shared(OpenFile& file, MPI_Offset* offset) {
  if (Error error = require(offset, "offset")) return error;
  const auto position = file.file->positions().shared();
  if (!position) return position.error();
  *offset = position.value();
  return {};
}

Error get_position(OpenFile& file, MPI_Offset* offset) {
  if (Error error = require(offset, "offset")) return error;
  const auto position = file.file->positions().individual();
  if (!position) return position.error();
  *offset = position.value();
  return {};
}

Error get_byte_offset(OpenFile& file, MPI_Offset offset, MPI_Offset* displacement) {
  if (Error error = require(displacement, "disp")) return error;
  const auto found = file.file->positions().byte_offset(offset);
  if (!found) return found.error();
  *displacement = found.value();
  return {};
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
