// Imports logs of MLPerf that state the speed of a training as step times, throughputs, epochs,
// blocks or evaluations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/import/import.h"
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
using testing::Not;

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

TEST(MlperfIntervals, LoggedStepTimesPrecedeAThroughputOfTheSameRecord) {
  const std::string text = settings("llama2_70b_lora", 8, 3901) +
                           mllog("tracked_stats", R"({"throughput": 20.0, "train_step_time": 0.5})",
                                 1000, "\"step\": 1");
  EXPECT_THAT(mlperf_step_ms(text), ElementsAre(500));
  const MeasuredRun run =
      run_of_texts({text + mllog("throughput", "\"unknown\"", 2000, "\"step\": 2")});
  EXPECT_EQ(run.counts.incomplete().at("throughput without a number"), 1);
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

}  // namespace
}  // namespace tutti::core
