# Compiles the loops as binding.gyp does, and PROGRAM.c of this folder with them. Sourced: compile FOLDER PROGRAM [arguments]
loops="scalar avx2 avx512 neon circular complex whole"
flags="-std=gnu11 -Isrc -O2 -ftree-vectorize -ffp-contract=off -fno-trapping-math -fno-math-errno"

compile () {
  local folder=$1 program=$2 cc=${CC:-gcc} file objects=()
  shift 2
  for file in $loops; do
    [ -f "$folder/$file.o" ] || $cc $flags -fPIC -c "src/math/$file.c" -o "$folder/$file.o"
    objects+=("$folder/$file.o")
  done
  $cc $flags "test/math/$program.c" "${objects[@]}" -o "$folder/$program" "$@" -lm
}
