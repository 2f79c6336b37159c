# Tests in Python that load our libraries.

find_package(Python3 REQUIRED COMPONENTS Interpreter)

# symmcts_python(INTERPRETER ENVIRONMENT): what such a test runs in. The interpreter itself, because a
# wrapper script's shell does not start under every sanitizer's runtime; and since it is not built
# with a sanitizer, that runtime has to come first. Leaks are Python's own.
function(symmcts_python interpreter environment)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
                  OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(variables "ASAN_OPTIONS=detect_leaks=0")
  foreach(runtime address:asan thread:tsan)
    string(REPLACE ":" ";" runtime ${runtime})
    list(GET runtime 0 sanitizer)
    list(GET runtime 1 name)
    if(SYMMCTS_SANITIZE MATCHES ${sanitizer})
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${name}.so
                      OUTPUT_VARIABLE preload OUTPUT_STRIP_TRAILING_WHITESPACE)
      list(APPEND variables "LD_PRELOAD=${preload}")
    endif()
  endforeach()
  set(${interpreter} ${python} PARENT_SCOPE)
  set(${environment} "${variables}" PARENT_SCOPE)
endfunction()
