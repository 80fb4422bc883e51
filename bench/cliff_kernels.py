"""The kernels that `cliffs.py` measures."""

from __future__ import annotations

#: Of each library: a row of `public_time_rows`, and the kernels in it.
KERNELS: dict[str, dict[str, tuple[str, ...]]] = {
    "liger": {
        "rms_norm 8192x4096": ("_rms_norm_forward_kernel", "_rms_norm_backward_kernel"),
        "layer_norm 8192x4096": ("_layer_norm_forward_kernel", "_layer_norm_backward_kernel"),
        "swiglu 8192x14336": ("_swiglu_forward_kernel", "_swiglu_backward_kernel"),
        "softmax 8192x4096": ("_softmax_single_block_forward_kernel",),
        "cross_entropy 4096x32768": ("liger_cross_entropy_kernel",),
        "kl_div 2048x32768": ("_kldiv_kernel_forward",),
        "rope 4x32x2048x128": ("_triton_rope",),
    },
    "gems": {
        "softmax": ("softmax_kernel_inner",),
        "log_softmax": ("log_softmax_kernel",),
        "sum_dim": ("sum_dim_kernel_inner",),
        "argmax": ("argmax_kernel_inner",),
        "mm": ("mm_kernel_general",),
        "bmm": ("bmm_kernel",),
        "mv": ("mv_kernel",),
        "var_mean": ("var_mean_welford_kernel",),
        "topk": ("topk_stage1_kernel",),
        "index_select": ("index_select_kernel",),
        "tril": ("_tril_kernel",),
        "rms_norm": ("rms_norm_kernel",),
    },
    "fla": {
        "chunk_gla": (
            "chunk_gla_fwd_A_kernel_intra_sub_inter",
            "chunk_gla_fwd_kernel_o",
            "chunk_gla_bwd_kernel_dA",
            "chunk_gla_bwd_kernel_inter",
            "chunk_fwd_kernel_h",
            "chunk_local_cumsum_vector_kernel",
        ),
        "chunk_kda": (
            "chunk_kda_fwd_kernel_inter_solve_fused",
            "chunk_kda_bwd_kernel_dAv",
            "chunk_kda_bwd_kernel_wy_dqkg_fused",
            "chunk_gated_delta_rule_bwd_kernel_dhu_blockdim64",
        ),
        "chunk_delta_rule": (
            "chunk_scaled_dot_kkt_fwd_kernel",
            "merge_16x16_to_64x64_inverse_kernel",
            "recompute_w_u_fwd_kernel",
            "chunk_bwd_kernel_dqkwg",
            "prepare_wy_repr_bwd_kernel",
        ),
        "parallel_attn": ("parallel_attn_fwd_kernel", "parallel_attn_bwd_kernel_dq"),
        "causal_conv1d 4x4096x2048": ("causal_conv1d_fwd_kernel",),
        "l2_norm 262144x128": ("l2norm_fwd_kernel",),
        "swiglu 8192x11008": ("swiglu_fwd_kernel",),
        "rotary 4x4096x16x128": ("rotary_embedding_kernel",),
    },
    "unsloth": {
        "cross_entropy 4096x32000": ("_cross_entropy_forward", "_cross_entropy_backward"),
        "rms_norm 8192x4096": ("_rms_layernorm_forward",),
        "geglu exact 8192x14336": ("_exact_forward_kernel",),
    },
    "vllm": {
        "decode llama 8b 64x2048": ("_fwd_grouped_kernel_stage1",),
        "unified decode llama 8b 64x2048": ("kernel_unified_attention",),
        "prefill llama 8b 4x2048": ("_fwd_kernel",),
        "awq 16x4096x14336": ("awq_gemm_kernel",),
        "awq dequantize 4096x14336": ("awq_dequantize_kernel",),
        "int8 matmul 512x4096x4096": ("scaled_mm_kernel",),
        "int8 quantization 8192x4096": ("_per_token_quant_int8",),
        "gated norm 8192x4096": ("_layer_norm_fwd_1pass_kernel",),
    },
    "sglang": {
        "decode llama 8b 16x4096": ("_fwd_grouped_kernel_stage1",),
        "extend llama 8b 4x(2048+512)": ("_fwd_kernel",),
        "rms_norm 8192x4096": ("fused_rmsnorm_kernel",),
        "gelu and mul 8192x28672": ("gelu_and_mul_kernel",),
        "top p renorm 64x128256": ("_mask_and_partial_sum_kernel",),
    },
    "moe": {
        "dense 64x4096x4096": ("_p_matmul_ogs",),
        "mxfp4 downcast 8192x4096": ("_downcast_to_mxfp",),
    },
}
