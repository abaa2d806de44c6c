#include "workload/importers/kernel_names.hpp"

#include <catch2/catch.hpp>

using namespace trainyard::workload;

TEST_CASE("a kernel's short name is its function", "[names]") {
  CHECK(
      short_kernel_name("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(X)") ==
      "at::native::reduce_kernel");
  CHECK(short_kernel_name("volta_sgemm_128x32_tn") == "volta_sgemm_128x32_tn");
  CHECK(short_kernel_name("void at::native::(anonymous namespace)::softmax_forward<4>(int)") ==
        "at::native::(anonymous namespace)::softmax_forward");
  CHECK(short_kernel_name("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, ncclWork*)") ==
        "ncclKernel_AllReduce_RING_LL_Sum_float");
  CHECK(short_kernel_name("void f<g<(int)3>, h>(k<int>)") == "f");
}

TEST_CASE("a name of which nothing is left is called unnamed", "[names]") {
  CHECK(short_kernel_name("") == "unnamed");
  CHECK(short_kernel_name("<>") == "unnamed");
  CHECK(short_kernel_name("a >> b") == "a  b");
}

TEST_CASE("communication kernels are told by their names", "[names]") {
  const auto* yes =
      GENERATE("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
               "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "rcclKernel",
               "void deep_ep::ep::internode::dispatch<true>(int)", "nvshmemi_put_signal",
               "oneShotAllReduceKernel<half, 8>", "allreduce_fusion_kernel_oneshot_lamport<float>");
  INFO(yes);
  CHECK(is_communication_kernel(yes));
}

TEST_CASE("other kernels are not communication", "[names]") {
  const auto* no = GENERATE("void at::native::reduce_kernel<512, 1>(X)", "volta_sgemm_128x32_tn",
                            "all_to_all_indices_kernel", "one_shot_detector");
  INFO(no);
  CHECK_FALSE(is_communication_kernel(no));
}

TEST_CASE("a kernel's category follows from its name", "[names]") {
  const auto [name, category] = GENERATE(table<std::string, Category>({
      {"volta_sgemm_128x32_tn", Category::gemm},
      {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_nn>(Params)", Category::gemm},
      {"Cijk_Ailk_Bljk_BBS_BH_MT128x128x64", Category::gemm},
      {"void gemmSN_TN_kernel<float, cublasGemvTensorStridedBatched<float>>(P)", Category::gemm},
      {"void gemvNSP_kernel<float, float>(X)", Category::memory_bound},
      {"sm80_xmma_fprop_implicit_gemm_tf32f32", Category::conv},
      {"void cudnn::cnn::conv2d_grouped_direct_kernel<false>(int)", Category::conv},
      {"void cutlass::Kernel<cutlass_tensorop_s1688wgrad_optimized_128x128>(P)", Category::conv},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>(X)", Category::memory_bound},
      {"void convert_tensor_layout(X)", Category::other},
      {"flash_fwd_kernel<Flash_fwd_kernel_traits<64>>", Category::attention},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(P)", Category::attention},
      {"void at::native::vectorized_elementwise_kernel<4, MulFunctor>(X)", Category::memory_bound},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(X)",
       Category::memory_bound},
      {"void multi_tensor_apply_kernel<AdamFunctor>(X)", Category::memory_bound},
      {"triton_poi_fused_add_relu_3", Category::memory_bound},
      {"my_kernel", Category::other},
  }));
  INFO(name);
  CHECK(to_text(kernel_category(name)) == std::string{to_text(category)});
}

TEST_CASE("collectives are found in kernel names, ranges and metadata", "[names]") {
  const auto [text, op] = GENERATE(table<std::string, CollectiveOp>({
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", CollectiveOp::all_reduce},
      {"allreduce", CollectiveOp::all_reduce},
      {"nccl:all_reduce", CollectiveOp::all_reduce},
      {"nccl:all_reduce_barrier", CollectiveOp::barrier},
      {"_allgather_base", CollectiveOp::all_gather},
      {"nccl:_reduce_scatter_base", CollectiveOp::reduce_scatter},
      {"ncclKernel_ReduceScatter_RING_LL_Sum_float(X)", CollectiveOp::reduce_scatter},
      {"ncclKernel_Reduce_RING_LL_Sum_float(X)", CollectiveOp::reduce},
      {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(X)", CollectiveOp::broadcast},
      {"all_to_allv", CollectiveOp::all_to_all},
      {"nccl:gather", CollectiveOp::gather},
      {"nccl:scatter", CollectiveOp::scatter},
  }));
  INFO(text);
  CHECK(collective_in(text) == op);
}

TEST_CASE("SendRecv and Generic do not say which collective they are", "[names]") {
  CHECK_FALSE(collective_in("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork*)"));
  CHECK_FALSE(collective_in("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"));
  CHECK_FALSE(collective_in(""));
}

TEST_CASE("the direction of a copy is in its name", "[names]") {
  CHECK(copy_kind("Memcpy HtoD (Pinned -> Device)") == CopyKind::h2d);
  CHECK(copy_kind("Memcpy DtoH (Device -> Pageable)") == CopyKind::d2h);
  CHECK(copy_kind("Memcpy DtoD (Device -> Device)") == CopyKind::d2d);
  CHECK(copy_kind("Memcpy PtoP (Device -> Device)") == CopyKind::p2p);
  CHECK(copy_kind("CopyHostToDevice") == CopyKind::h2d);
  CHECK(copy_kind("Memcpy") == CopyKind::unknown);
}
