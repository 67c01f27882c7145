# What `cmake --install` puts where: the command's Python package with the library and the programs in
# it, as in the wheel, and a program that starts it. Nothing names the prefix, so it can be moved.
#
#   HEADRACE_INSTALL_DIR   the package's folder below the prefix; the wheel's has nothing above it

set(HEADRACE_INSTALL_DIR "lib/headrace/headrace" CACHE STRING "Folder of the Python package")

# The component wheel has what scikit-build-core adds to the Python package.
function(headrace_install_command)
  cmake_path(GET HEADRACE_INSTALL_DIR PARENT_PATH folder)
  set(start "${CMAKE_BINARY_DIR}/command/headrace")
  file(CONFIGURE OUTPUT "${start}" @ONLY CONTENT [=[#!/usr/bin/env python3
import os
import sys

if sys.version_info < (3, 11):
    sys.exit(
        "headrace: Python %d.%d is too old (the command needs 3.11), put a newer python3 first in PATH"
        % sys.version_info[:2]
    )
here = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(here, "..", "@folder@"))

from headrace.entry import main

sys.exit(main())
]=])
  install(PROGRAMS "${start}" DESTINATION bin COMPONENT command)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/python/headrace/" DESTINATION "${HEADRACE_INSTALL_DIR}"
    COMPONENT command PATTERN __pycache__ EXCLUDE)
  # From this the command knows its version.
  set(metadata "${CMAKE_BINARY_DIR}/command/METADATA")
  file(CONFIGURE OUTPUT "${metadata}" CONTENT
    "Metadata-Version: 2.1\nName: headrace\nVersion: ${PROJECT_VERSION}\n")
  install(FILES "${metadata}" COMPONENT command
    DESTINATION "${folder}/headrace-${PROJECT_VERSION}.dist-info")
endfunction()
