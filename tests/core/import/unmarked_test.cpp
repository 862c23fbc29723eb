// Imports traces that mark no steps, and logs that state their speed, their communicators or their
// entries in less common ways.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/import/import.h"
#include "core/import/step_model.h"
#include "tests/core/import/imported.h"
#include "tests/support/samples.h"

namespace tutti::core {
namespace {

using test::replaced;
using test::run_of_texts;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// ------------------------------------------------------------------------------ PyTorch profiler

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

// ------------------------------------------------------------------------------ MLPerf

std::string mllog(const std::string& key, const std::string& value, std::int64_t ms,
                  const std::string& metadata = "") {
  return fmt::format(
      ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": \"POINT_IN_TIME\", "
      "\"key\": "
      "\"{}\", \"value\": {}, \"metadata\": {{{}}}}}\n",
      1'700'000'000'000 + ms, key, value, metadata);
}
std::vector<std::int64_t> mlperf_step_ms(const std::string& text) {
  std::vector<std::int64_t> all;
  const MeasuredRun run = run_of_texts({text});
  for (const MeasuredStep& step : run.ranks.at(0).steps) all.push_back(step.host_ns / 1'000'000);
  return all;
}
std::string settings(const std::string& benchmark, int batch, std::int64_t samples) {
  return mllog("submission_benchmark", '"' + benchmark + '"', 0) +
         mllog("submission_platform", "\"SUBMISSION_PLATFORM_PLACEHOLDER\"", 0) +
         mllog("global_batch_size", std::to_string(batch), 0) +
         mllog("train_samples", std::to_string(samples), 0);
}

TEST(MlperfIntervals, LoggedStepTimesAreUsedAsTheyAre) {
  // GPT-3 counts tokens, so the samples of the epoch are not those of the batch.
  const std::string text =
      settings("gpt3", 2048, 40'000'000) + mllog("epoch_start", "null", 10, "\"epoch_num\": 0") +
      mllog("tracked_stats", R"({"train_step_timing in s": 36.25})", 36'000, "\"step\": 4194304") +
      mllog("tracked_stats", R"({"train_step_timing in s": 36.5})", 72'000, "\"step\": 8388608") +
      mllog("tracked_stats", R"({"validation_step_time": 2.5})", 80'000) +
      mllog("epoch_stop", "null", 90'000, "\"epoch_num\": 0");
  EXPECT_THAT(mlperf_step_ms(text), ElementsAre(36'250, 36'500));
  const MeasuredRun run = run_of_texts({text});
  EXPECT_EQ(run.gpu, "");
  EXPECT_EQ(run.counts.ignored().at("statistics without a throughput"), 1);
  EXPECT_THAT(run.notes, Contains(HasSubstr("the duration that the log states for a step")));
}

TEST(MlperfIntervals, EpochsExposeAThroughputThatIsOfOneGpu) {
  // 1,000 batches of 64 images (RetinaNet's train_samples are batches) take 80 s.
  std::string text = settings("ssd", 64, 1000);
  for (int e = 0; e < 2; ++e) {
    const std::string number = "\"epoch_num\": " + std::to_string(e);
    text += mllog("epoch_start", "null", 100'000 * e + 1000, number) +
            mllog("epoch_stop", "null", 100'000 * e + 81'000, number) +
            mllog("tracked_stats", R"({"throughput": 100.0})", 100'000 * e + 81'000,
                  "\"step\": " + std::to_string(e));
  }
  EXPECT_THAT(mlperf_step_ms(text), ElementsAre(80, 80));
  EXPECT_THAT(run_of_texts({text}).notes, Contains(HasSubstr("states a throughput of 100")));
  EXPECT_THAT(mlperf_step_ms(replaced(text, "100.0", "800.0")), ElementsAre(80, 80));
  EXPECT_THAT(run_of_texts({replaced(text, "100.0", "800.0")}).notes,
              Each(Not(HasSubstr("states a throughput"))));
}

TEST(MlperfIntervals, BlocksEndWhenTheirEvaluationBegins) {
  std::string text = settings("resnet", 2048, 1'280'000);
  text += mllog("block_start", "null", 1000, R"("first_epoch_num": 1, "epoch_count": 4)") +
          mllog("eval_start", "null", 126'000, R"("epoch_num": 4)") +
          mllog("eval_stop", "null", 130'000, R"("epoch_num": 4)") +
          mllog("block_stop", "null", 130'000, R"("first_epoch_num": 1)");
  EXPECT_THAT(mlperf_step_ms(text), ElementsAre(50));  // 4 epochs are 2,500 steps in 125 s
  // Stable Diffusion states the samples of blocks, and BERT the steps.
  const auto block = [](const std::string& first, const std::string& last) {
    return mllog("block_start", "null", 1000, first) + mllog("block_stop", "null", 51'000, last);
  };
  EXPECT_THAT(mlperf_step_ms(settings("stable_diffusion", 1024, 1) +
                             block(R"("samples_count": 0)", R"("samples_count": 512000)")),
              ElementsAre(100));
  EXPECT_THAT(mlperf_step_ms(settings("bert", 448, 1) +
                             block(R"("first_epoch_num": 0, "epoch_count": 500)", "")),
              ElementsAre(100));
}

TEST(MlperfIntervals, EvaluationsStateTheProgressOfBert) {
  const std::string text = settings("bert", 500, 1'000'000) +
                           mllog("epoch_start", "null", 1000, "\"epoch_num\": 0") +
                           mllog("eval_start", "null", 101'000, "\"epoch_num\": 100000") +
                           mllog("eval_accuracy", "0.4", 111'000, "\"epoch_num\": 100000") +
                           mllog("eval_accuracy", "0.5", 261'000, "\"epoch_num\": 200000") +
                           mllog("epoch_stop", "null", 261'000, "\"epoch_num\": 200000");
  EXPECT_THAT(mlperf_step_ms(text), ElementsAre(500, 750));
}

TEST(MlperfIntervals, ABatchInTokensHasNoStepTime) {
  MeasuredRun run;
  const auto read = import_bytes(TraceFormat::kMlperf,
                                 settings("transformer", 81'920, 4'590'101) +
                                     mllog("epoch_start", "null", 1000, "\"epoch_num\": 1") +
                                     mllog("epoch_stop", "null", 347'000, "\"epoch_num\": 1"),
                                 "f", run);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("its step time is unknown"));
}

// ------------------------------------------------------------------------------ NCCL, PyTorch

std::string init_line(int rank, int ranks, int pid, const std::string& comm,
                      const std::string& id) {
  return fmt::format(
      "node0:{0}:{0} [{1}] NCCL INFO ncclCommInitRank comm {2} rank {3} nranks {4} cudaDev {1} "
      "busId 1000{5} - Init COMPLETE\n",
      pid, pid % 100, comm, rank, ranks, id.empty() ? "" : " commId " + id);
}

/// Four ranks, which are divided into two tensor-parallel and two data-parallel groups.
std::string log_of_groups(bool with_ids) {
  std::string text;
  for (int r = 0; r < 4; ++r) {
    const auto id = [&](int number) {
      return with_ids ? fmt::format("0xabc{}", number) : std::string();
    };
    const auto pointer = [&](int number) { return fmt::format("0x5500{}{}", r, number); };
    text += init_line(r, 4, 100 + r, pointer(0), id(0)) +
            init_line(r % 2, 2, 100 + r, pointer(1), id(1 + r / 2)) +
            init_line(r / 2, 2, 100 + r, pointer(2), id(3 + r % 2));
    text += fmt::format(
        "node0:{0}:{0} [{1}] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f count 1024 datatype 7 op "
        "0 root 0 comm {2} [nranks=2] stream 0x1\n",
        100 + r, r, pointer(2));
  }
  return text;
}

TEST(NcclLogGroups, CommunicatorsOfOneSizeAreToldApartByTheirIds) {
  const MeasuredRun run = run_of_texts({log_of_groups(true)});
  ASSERT_THAT(run.groups, SizeIs(5));
  EXPECT_THAT(run.groups[0].ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(run.groups[1].ranks, ElementsAre(0, 1));
  EXPECT_THAT(run.groups[2].ranks, ElementsAre(0, 2));
  EXPECT_THAT(run.groups[3].ranks, ElementsAre(1, 3));
  EXPECT_THAT(run.groups[4].ranks, ElementsAre(2, 3));
  ASSERT_THAT(run.ranks, SizeIs(4));
  EXPECT_EQ(run.ranks[3].collectives.at(0).group, 3);
}

TEST(NcclLogGroups, LogsWithoutIdsHaveAGroupForEachCommunicatorOfAProcess) {
  const MeasuredRun run = run_of_texts({log_of_groups(false)});
  ASSERT_THAT(run.groups, SizeIs(3));
  EXPECT_EQ(run.groups[1].name, "communicator of 2");
  EXPECT_EQ(run.groups[2].name, "communicator 2 of 2");
  EXPECT_THAT(run.groups[2].ranks, IsEmpty());
  EXPECT_EQ(run.ranks[3].collectives.at(0).group, 2);
}

TEST(NcclLogGroups, ALogOfNcclTestsNamesTheCommandsThatReadItsResults) {
  const std::string line = init_line(0, 4, 100, "0x550000", "0xabc0");
  const std::string titles = "# size count type redop time algbw busbw error\n";
  EXPECT_THAT(run_of_texts({line + titles}).notes,
              Contains(HasSubstr("file:2: this log has results of nccl-tests")));
  EXPECT_THAT(run_of_texts({line}).notes, Each(Not(HasSubstr("nccl-tests"))));
}

TEST(FlightRecorderOf22, IsAListOfEntries) {
  const std::string entry =
      R"({"pg_id": 0, "seq_id": 1, "profiling_name": "nccl:all_reduce", "time_created_us": 1700000000000005, "input_sizes": [[1024, 256]], "frames": [], "state": "completed"})";
  const MeasuredRun run = run_of_texts({"[" + entry + ", " + entry + "]"});
  EXPECT_EQ(run.format, "PyTorch Flight Recorder");
  ASSERT_THAT(run.ranks, SizeIs(1));
  ASSERT_THAT(run.ranks[0].collectives, SizeIs(2));
  EXPECT_EQ(run.ranks[0].collectives[0].kind, MeasuredKind::kAllReduce);
  EXPECT_EQ(run.counts.incomplete().at("entry of unknown size"), 2);  // the type is missing
}

}  // namespace
}  // namespace tutti::core
