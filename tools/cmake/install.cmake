# What `cmake --install` puts where: libraries, headers, the CMake package, dstok.pc, licence and documents.
include(CMakePackageConfigHelpers)
set(dstok_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dstok)

# The rules must hold for the installed library whatever else is installed: no name of a build folder, no settings of
# ours for others.
install(TARGETS dstok EXPORT dstok-targets)
install(EXPORT dstok-targets NAMESPACE dstok:: DESTINATION ${dstok_package_dir})

# Where the library is shared, a static one stands beside it.
if(BUILD_SHARED_LIBS)
  add_library(dstok_static STATIC ${dstok_parts})
  add_library(dstok::dstok_static ALIAS dstok_static)
  set_target_properties(dstok_static PROPERTIES OUTPUT_NAME dstok LINKER_LANGUAGE C)
  target_include_directories(
    dstok_static INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tokenizer/include>
                           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/align/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(dstok_static PRIVATE ${dstok_needs} $<BUILD_INTERFACE:dstok_settings>)
  install(TARGETS dstok_static EXPORT dstok-static-targets)
  install(EXPORT dstok-static-targets NAMESPACE dstok:: DESTINATION ${dstok_package_dir})
endif()

install(DIRECTORY tokenizer/include/dstok align/include/dstok DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

set(dstok_is_shared ${BUILD_SHARED_LIBS})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/dstok-config.cmake.in ${PROJECT_BINARY_DIR}/dstok-config.cmake
                              INSTALL_DESTINATION ${dstok_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dstok-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dstok-config.cmake ${PROJECT_BINARY_DIR}/dstok-config-version.cmake
        DESTINATION ${dstok_package_dir})

# dstok.pc gets its prefix when it is installed: `cmake --install --prefix` may name another one than configuring did.
set(dstok_pc_needs "libpcre2-8, libutf8proc, libxxhash")
if(BUILD_SHARED_LIBS)
  set(dstok_pc_requires "Requires.private: ${dstok_pc_needs}")
else()
  set(dstok_pc_libs " -pthread")
  set(dstok_pc_requires "Requires: ${dstok_pc_needs}")
endif()
foreach(dir LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(dstok_pc_${dir} "${CMAKE_INSTALL_${dir}}")
  else()
    set(dstok_pc_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
set(dstok_pc_prefix "@dstok_pc_prefix@")
configure_file(${CMAKE_CURRENT_LIST_DIR}/dstok.pc.in ${PROJECT_BINARY_DIR}/dstok.pc.in @ONLY)
install(CODE "get_filename_component(dstok_pc_prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
configure_file(\"${PROJECT_BINARY_DIR}/dstok.pc.in\" \"${PROJECT_BINARY_DIR}/dstok.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/dstok.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Laid out as in the source tree, so that links between the documents hold.
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Everything that is installed, without the tests: cmake --build DIR --target dstok_product
add_custom_target(dstok_product)
foreach(target dstok dstok_static dstok_program dstok_man)
  if(TARGET ${target})
    add_dependencies(dstok_product ${target})
  endif()
endforeach()
