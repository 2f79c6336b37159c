# find_package(symm_mem [COMPONENTS mpi]): the target symm_mem::symm_mem, and with the component `mpi`
# symm_mem::mpi, which needs an MPI for C++. Either needs CUDA's header and driver library, and
# nothing else; where they are not found, say where they are:
#   SYMM_MEM_CUDA_INCLUDE   the folder of cuda.h
#   SYMM_MEM_CUDA_DRIVER    libcuda.so, or the toolkit's stub of it
find_path(SYMM_MEM_CUDA_INCLUDE cuda.h HINTS ENV CUDA_HOME PATHS /usr/local/cuda
          PATH_SUFFIXES include)
find_library(SYMM_MEM_CUDA_DRIVER NAMES cuda libcuda.so.1 HINTS ENV CUDA_HOME PATHS /usr/local/cuda
             PATH_SUFFIXES lib64/stubs lib64 lib)

set(symm_mem_FOUND TRUE)
foreach(needed SYMM_MEM_CUDA_INCLUDE SYMM_MEM_CUDA_DRIVER)
  if(NOT ${needed})
    set(symm_mem_FOUND FALSE)
    set(symm_mem_NOT_FOUND_MESSAGE "CUDA was not found: set ${needed}")
    return()
  endif()
endforeach()
if(NOT TARGET symm_mem::cuda)
  add_library(symm_mem::cuda INTERFACE IMPORTED)
  target_include_directories(symm_mem::cuda SYSTEM INTERFACE ${SYMM_MEM_CUDA_INCLUDE})
  target_link_libraries(symm_mem::cuda INTERFACE ${SYMM_MEM_CUDA_DRIVER})
endif()
include(${CMAKE_CURRENT_LIST_DIR}/symm_mem-targets.cmake)

foreach(component IN LISTS symm_mem_FIND_COMPONENTS)
  set(symm_mem_${component}_FOUND FALSE)
  if(component STREQUAL "mpi" AND EXISTS ${CMAKE_CURRENT_LIST_DIR}/symm_mem-mpi-targets.cmake)
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI QUIET COMPONENTS CXX)
    if(MPI_CXX_FOUND)
      include(${CMAKE_CURRENT_LIST_DIR}/symm_mem-mpi-targets.cmake)
      set(symm_mem_mpi_FOUND TRUE)
    endif()
  endif()
  if(symm_mem_FIND_REQUIRED_${component} AND NOT symm_mem_${component}_FOUND)
    set(symm_mem_FOUND FALSE)
    set(symm_mem_NOT_FOUND_MESSAGE "no component '${component}'")
  endif()
endforeach()
