"""The functions of triton.language and of gluon.language that kernels may call: tools/docs.sh makes this file."""

FUNCTIONS = """
_experimental_make_tensor_descriptor abs add advance arange argmax argmin associative_scan assume atomic_add
atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_poll atomic_xchg atomic_xor bitonic_merge
breakpoint_if broadcast broadcast_to cast cat cdiv ceil clamp clock condition constexpr cos
cuda_capability_geq cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled enter_scope
erf exit_scope exp exp2 expand_dims extern_elementwise fdiv flip floor fma full gather gdc_launch_dependents
gdc_wait get_int_dtype globaltimer histogram inline_asm_elementwise interleave is_cuda is_hip item join load
load_tensor_descriptor log log2 logical_and logical_or make_block_ptr make_tensor_descriptor map_elementwise
max max_constancy max_contiguous maximum min minimum mul multiple_of num_ctas num_programs num_threads
num_warps pair_uniform_to_normal permute philox philox_impl print print_if program_id rand rand4x randint
randint4x randn randn4x range ravel reduce reduce_or reshape rsqrt scope sigmoid sin smid softmax sort split
sqrt sqrt_rn squeeze static_assert static_print static_range store store_tensor_descriptor sub sum swizzle2d
to to_tensor topk trans uint_to_uniform_float umulhi unsqueeze view where xor_sum zeros zeros_like
""".split()
GLUON_FUNCTIONS = """
allocate_shared_memory arange async_copy.async_copy_global_to_shared async_copy.commit_group
async_copy.mbarrier_arrive async_copy.wait_group bank_conflicts barrier cat convert_layout descriptor.load
descriptor.store dot dot_fma fence_async_shared fp4_to_fp full full_like histogram make_block_ptr
make_tensor_descriptor mbarrier.arrive mbarrier.expect mbarrier.init mbarrier.invalidate mbarrier.wait mma_v2
set_auto_layout thread_barrier tma.async_copy_global_to_shared tma.async_copy_shared_to_global tma.async_load
tma.async_store tma.make_tensor_descriptor tma.store_wait warp_specialize warpgroup_mma warpgroup_mma_init
warpgroup_mma_wait zeros zeros_like
""".split()
