# Warnings, sanitizers and the one helper that adds a unit test.

find_package(Threads REQUIRED)

add_library(symmcts_flags INTERFACE)
target_compile_options(symmcts_flags INTERFACE -Wall -Wextra -Wpedantic)
if(SYMMCTS_WERROR)
  target_compile_options(symmcts_flags INTERFACE -Werror)
endif()
target_include_directories(symmcts_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_link_libraries(symmcts_flags INTERFACE Threads::Threads)

if(SYMMCTS_SANITIZE)
  add_compile_options(-fsanitize=${SYMMCTS_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SYMMCTS_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # gcc's manual: a sanitizer's instrumentation makes such warnings see what is not there.
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict
                        -Wno-stringop-overflow)
  endif()
endif()

# symmcts_library(NAME SOURCES... [LIBS ...]): a static library with the project's flags.
function(symmcts_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LIBS} PRIVATE symmcts_flags)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()

# symmcts_test(NAME SOURCES... [LIBS ...] [TIMEOUT seconds]): a GoogleTest program that ctest runs.
# A test program in which no test ran fails: GoogleTest itself would exit 0 (googletest 1.12).
function(symmcts_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  find_package(GTest REQUIRED)
  if(NOT TARGET symmcts_test_main)
    # One object and one precompiled header for all: GoogleTest's headers are most of what a test
    # costs to compile.
    add_library(symmcts_test_main STATIC ${CMAKE_SOURCE_DIR}/tests/test_main.cpp)
    target_link_libraries(symmcts_test_main PUBLIC symmcts_flags GTest::gtest GTest::gmock)
    # A precompiled header fits only what is compiled as it was: programs are -fPIE.
    set_target_properties(symmcts_test_main PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(symmcts_test_main PRIVATE -fPIE)
    set_target_properties(symmcts_test_main PROPERTIES EXCLUDE_FROM_ALL ON)
    if(SYMMCTS_PCH)
      target_precompile_headers(symmcts_test_main PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    endif()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} symmcts_test_main)
  if(SYMMCTS_PCH)
    target_precompile_headers(${name} REUSE_FROM symmcts_test_main)
  endif()
  if(SYMMCTS_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # gcc 12 warns of overflows inside std::string (gcc PR 105329, 105651). As system headers they
    # are silent; a precompiled header takes that mark away.
    target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  if(NOT SYMMCTS_TESTS)
    # Still known to ctest: a test that was not built fails there, it does not vanish.
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
