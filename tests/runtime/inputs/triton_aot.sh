# triton_aot.sh PYTHON INPUTS FOLDER: writes the C code of triton_aot.py's kernels into a folder, and makes mistakes.
python=$1 file=$2/triton_aot.py inputs=$2
cd "$3" || exit
# Without ptxas the code holds PTX, which the simulator's driver runs.
compile() { TILE_PTXAS=/nonexistent $python -m tilec.triton -m triton.tools.compile "$file" -t cuda:90:32 "$@"; }
sum() { compile -n sum_of -w 4 -g "(n + $1 - 1) / $1, 1, 1" -s "*fp32:16, *fp32:16, *fp32:16, i32, $2, $1"; }
sum 128 i32:1
sum 128 i32
sum 64 i32
echo "files: $(ls ./*.c | wc -l) c, $(ls ./*.h | wc -l) h"
$python -m tilec.triton -m triton.tools.link ./sum_of.*.h -o sum_of
$python -m tilec.triton -m triton.tools.compile "$file" -n sum_of -s i32 -g 1,1,1 -t cuda:75:32
compile -n sum_of -s "*fp32, *fp32, *fp32, i32, i32, BLOCK" -g 1,1,1
compile -n nothing -s i32 -g 1,1,1
compile -n sum_of -s "*fp32, *fp32, *fp32, i32, i32, 64" -g 1
compile -n tall -s "i32, *fp32" -g 1,1,1
$python -m tilec.triton -m triton.tools.link "$inputs/triton_aot.c" -o other || true
