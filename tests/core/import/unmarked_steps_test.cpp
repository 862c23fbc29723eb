// Imports traces of the PyTorch profiler that mark no steps, and those of other devices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/import/import.h"
#include "tests/core/import/imported.h"

namespace tutti::core {
namespace {

using test::run_of_texts;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Writes a trace event. Times are in microseconds.
std::string trace_event(const std::string& category, const std::string& name, double start,
                        double duration, const std::string& arguments = "", int thread = 1) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}},)",
      category, name, thread, start, duration, arguments);
}
std::string trace_of(const std::string& events) {
  return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}], "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8}, "traceEvents": [)" +
         events + R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}]})";
}

TEST(UnmarkedTraces, KernelsThatAreLaunchedBeforeTheFirstOneBeginsCount) {
  // A CUDA graph: one launch for three kernels, which begin long after it.
  std::string events =
      trace_event("cuda_runtime", "cudaGraphLaunch", 100, 5, R"("correlation": 7)");
  for (int k = 0; k < 3; ++k)
    events +=
        trace_event("kernel", "gemm", 900 + 100 * k, 90, R"("correlation": 7, "stream": 7)", 2);
  const MeasuredRun run = run_of_texts({trace_of(events)});
  EXPECT_THAT(run.notes, Contains(HasSubstr("marks no steps, so it is read as one step")));
  ASSERT_THAT(run.ranks, SizeIs(1));
  EXPECT_THAT(run.ranks[0].compute, SizeIs(3));
  ASSERT_THAT(run.ranks[0].steps, SizeIs(1));
  EXPECT_EQ(run.ranks[0].steps[0].start_ns, 900'000);
  EXPECT_EQ(run.ranks[0].steps[0].end_ns, 1'190'000);
}

/// Three steps, each with a forward kernel, a backward kernel and two optimizers.
std::string trace_of_optimizers(bool with_optimizers) {
  std::string events;
  for (int s = 0; s < 3; ++s) {
    const int t = 1000 * s, id = 10 * s;
    const auto launch = [&](int at, int number, int thread) {
      events += trace_event("cuda_runtime", "cudaLaunchKernel", t + at, 2,
                            fmt::format(R"("correlation": {})", id + number), thread);
      events += trace_event("kernel", "kernel", t + at + 10, 80,
                            fmt::format(R"("correlation": {}, "stream": 7)", id + number), 9);
    };
    launch(100, 1, 1);
    events += trace_event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", t + 300,
                          60, "", 2);
    launch(310, 2, 2);
    if (!with_optimizers) continue;
    events += trace_event("user_annotation", "Optimizer.step#SGD.step", t + 500, 50);
    events += trace_event("user_annotation", "Optimizer.step#AdamW.step", t + 600, 50);
    launch(620, 3, 1);
  }
  return trace_of(events);
}

TEST(UnmarkedTraces, StepsEndAfterTheirLastOptimizer) {
  const MeasuredRun run = run_of_texts({trace_of_optimizers(true)});
  EXPECT_THAT(run.notes, Contains(HasSubstr("assumed: a step ends after Optimizer.step")));
  ASSERT_THAT(run.ranks[0].steps, SizeIs(3));
  EXPECT_EQ(run.ranks[0].steps[1].host_ns, 1'000'000);
  for (const MeasuredCompute& c : run.ranks[0].compute)
    EXPECT_EQ(c.step, c.start_ns / 1'000'000) << c.start_ns;
  EXPECT_THAT(run_of_texts({trace_of_optimizers(false)}).ranks[0].steps, SizeIs(1));
}

TEST(UnmarkedTraces, AnOptimizerThatCallsAnotherOneIsOneCall) {
  const MeasuredRun run = run_of_texts(
      {trace_of(trace_event("cuda_runtime", "cudaLaunchKernel", 100, 2, R"("correlation": 1)") +
                trace_event("kernel", "kernel", 110, 500, R"("correlation": 1, "stream": 7)", 9) +
                trace_event("user_annotation", "Optimizer.step#ZeRO.step", 200, 100) +
                trace_event("user_annotation", "Optimizer.step#AdamW.step", 210, 50))});
  EXPECT_THAT(run.notes, Contains(HasSubstr("is read as one step")));
  ASSERT_THAT(run.ranks[0].steps, SizeIs(1));
  EXPECT_EQ(run.ranks[0].steps[0].end_ns, 610'000);
}

TEST(UnmarkedTraces, CategoriesOfOtherDevicesAreKnown) {
  const std::string size = R"("correlation": 5, "Collective name": "allreduce", "dtype": "BFloat16",
      "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 8)";
  const MeasuredRun run = run_of_texts(
      {trace_of(trace_event("xpu_runtime", "urEnqueueKernelLaunch", 100, 5, R"("correlation": 4)") +
                trace_event("kernel", "gemm", 110, 50, R"("correlation": 4)", 2) +
                trace_event("xpu_runtime", "urEnqueueKernelLaunch", 120, 5, R"("correlation": 5)") +
                trace_event("kernel", "oneccl_allreduce_large", 170, 50, size, 2) +
                trace_event("user_annotation", "xccl:all_reduce", 118, 20) +
                trace_event("kernel", "void at::native::copy_kernel", 165, 5, size, 2) +
                trace_event("mtia_ccp_events", "memory", 100, 5))});
  EXPECT_THAT(run.counts.unknown(), IsEmpty());
  EXPECT_EQ(run.counts.ignored().at("mtia_ccp_events"), 1);
  EXPECT_EQ(run.counts.used().at("launch"), 2);
  ASSERT_THAT(run.ranks[0].collectives, SizeIs(1));
  EXPECT_EQ(run.ranks[0].collectives[0].kind, MeasuredKind::kAllReduce);
  EXPECT_EQ(run.ranks[0].collectives[0].bytes, 2048);
}

}  // namespace
}  // namespace tutti::core
