# cmake -DOUT=FILE.cpp "-DFILES=a.json;b.json" -P EmbedPipelines.cmake: the files as raw string literals.
set(text "#include \"cmd/compiler/builtin.h\"\n\nnamespace uop {\n\nstd::span<const BuiltinPipeline> builtinPipelines() {\n  static constexpr BuiltinPipeline all[] = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} json)
  string(APPEND text "      {\"${name}\", R\"UOPC(${json})UOPC\"},\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n\n}  // namespace uop\n")
file(WRITE ${OUT} "${text}")
