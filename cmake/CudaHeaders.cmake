# The CUDA headers, and nothing else of the toolkit: from an installed toolkit when there is one,
# else from the header wheels that ci/install-deps unpacks under .deps/cuda.
# Defines the interface target symmcts_cuda_headers.

set(SYMMCTS_CUDA_INCLUDE "" CACHE PATH "Folder that holds cuda.h, cudaTypedefs.h and cupti.h")
if(NOT SYMMCTS_CUDA_INCLUDE)
  find_package(CUDAToolkit QUIET)
  set(candidates ${CMAKE_SOURCE_DIR}/.deps/cuda/include)
  if(CUDAToolkit_FOUND)
    list(PREPEND candidates ${CUDAToolkit_INCLUDE_DIRS})
    foreach(dir ${CUDAToolkit_INCLUDE_DIRS})
      list(APPEND candidates ${dir}/../extras/CUPTI/include)
    endforeach()
  endif()
  foreach(dir ${candidates})
    if(EXISTS ${dir}/cuda.h AND EXISTS ${dir}/cudaTypedefs.h AND EXISTS ${dir}/cupti.h)
      set(SYMMCTS_CUDA_INCLUDE ${dir} CACHE PATH "" FORCE)
      break()
    endif()
  endforeach()
endif()
if(NOT SYMMCTS_CUDA_INCLUDE OR NOT EXISTS ${SYMMCTS_CUDA_INCLUDE}/cupti.h)
  message(FATAL_ERROR "No CUDA headers (cuda.h, cudaTypedefs.h, cupti.h). Run ci/install-deps, or "
                      "pass -DSYMMCTS_CUDA_INCLUDE=DIR.")
endif()
message(STATUS "CUDA headers: ${SYMMCTS_CUDA_INCLUDE}")
add_library(symmcts_cuda_headers INTERFACE)
target_include_directories(symmcts_cuda_headers SYSTEM INTERFACE ${SYMMCTS_CUDA_INCLUDE})
