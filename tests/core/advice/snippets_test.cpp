// Settings that users paste into their training scripts. Hand-written cases check the units of the
// settings, and the parsers of their languages check the syntax.

#include "core/advice/snippets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>

#include "core/edit/overrides.h"
#include "core/framework/byteps/byteps.h"
#include "core/framework/deepspeed/deepspeed.h"
#include "core/framework/horovod/horovod.h"
#include "core/framework/megatron/megatron.h"
#include "core/framework/pytorch/pytorch_ddp.h"
#include "core/framework/tensorflow/tensorflow.h"
#include "tests/support/clusters.h"
#include "tests/support/process.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kText = R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload { variable { name: "a" shape: [1000, 1000] } variable { name: "b" shape: 50000000 } forward_ms: 1 backward_ms: 2 )";

Scenario scenario(const std::string& strategy, const std::string& workload = "") {
  auto read = read_scenario(kText + workload + " }\nstrategy { " + strategy + " }", "f.textproto",
                            test::shipped_library());
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  if (!read) throw std::runtime_error(strategy);
  return std::move(*read);
}

std::vector<Snippet> snippets(const std::string& strategy, const std::string& workload = "") {
  const Scenario recommended = scenario(strategy, workload);
  return snippets_of(recommended, test::shipped_library()).list;
}

/// Returns the snippet of a framework, or an empty one if there is none.
Snippet of(const std::vector<Snippet>& list, const std::string& framework) {
  for (const Snippet& snippet : list) {
    if (snippet.framework == framework) return snippet;
  }
  return {};
}

// --- units ---

TEST(Snippets, TensorFlowTakesBytes) {
  const Snippet nccl = of(snippets("algorithm: \"nccl\" bytes_per_pack: 26214400"), "TensorFlow 2");
  EXPECT_THAT(nccl.text, HasSubstr("bytes_per_pack=26214400,"));
  EXPECT_THAT(nccl.text, HasSubstr("CommunicationImplementation.NCCL"));
  const Snippet ring = of(
      snippets("tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 1000 "
               "implementation: RING } } }"),
      "TensorFlow 2");
  EXPECT_THAT(ring.text, HasSubstr("bytes_per_pack=1000,"));
  EXPECT_THAT(ring.text, HasSubstr("CommunicationImplementation.RING"));
  EXPECT_TRUE(ring.as_simulated);
}

TEST(Snippets, ParameterServersHaveTheirPartitionerAndPlacement) {
  const auto servers = [](const std::string& fields) {
    const auto read = read_scenario(
        std::string(
            "cluster { workers { machine: \"dgx1-v100\" count: 2 replicas: 1 } workers { machine: "
            "\"cpu-host\" count: 2 server: true } network { kind: ONE_SWITCH link: \"ethernet-25\" "
            "} } "
            "workload { model: \"vgg16_keras\" batch: 32 } strategy { reduction: MEAN tensorflow { "
            "parameter_server { ") +
            fields + " } } }",
        "f.textproto", test::shipped_library());
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    return snippets_of(*read, test::shipped_library()).list;
  };
  const auto fixed = servers("variable_partitioner { fixed_size { num_shards: 4 } }");
  EXPECT_EQ(of(fixed, "TensorFlow 2").text,
            "strategy = tf.distribute.experimental.ParameterServerStrategy(\n"
            "    cluster_resolver,\n"
            "    variable_partitioner=tf.distribute.experimental.partitioners."
            "FixedShardsPartitioner(num_shards=4))\n");
  EXPECT_THAT(of(fixed, "TensorFlow 1").text,
              HasSubstr("partitioner=tf.compat.v1.fixed_size_partitioner(num_shards=4)"));
  const auto smallest = servers(
      "variable_partitioner { min_max_variable { max_partitions: 8 min_slice_bytes: 1000000 } }");
  EXPECT_THAT(of(smallest, "TensorFlow 2").text,
              HasSubstr("MinSizePartitioner(min_shard_bytes=1000000, max_shards=8)"));
  const auto largest =
      servers("variable_partitioner { variable_axis_size { max_shard_bytes: 4000000 } }");
  EXPECT_THAT(of(largest, "TensorFlow 2").text,
              HasSubstr("MaxSizePartitioner(max_shard_bytes=4000000))"));
  // TensorFlow 2 has neither this placement nor this cache.
  const auto greedy = servers("placement: GREEDY_BY_BYTES variable_read_cache: CPU");
  const Snippet nearest = of(greedy, "TensorFlow 2");
  EXPECT_THAT(nearest.text, HasSubstr("variable_partitioner=None"));
  EXPECT_FALSE(nearest.as_simulated);
  EXPECT_THAT(nearest.remark, AllOf(HasSubstr("only round-robin"), HasSubstr("does not cache")));
  ASSERT_EQ(nearest.readings.size(), 1u);
  EXPECT_EQ(nearest.readings.front().size(), 2u) << "without the placement and the cache";
  EXPECT_THAT(of(greedy, "TensorFlow 1").remark,
              AllOf(HasSubstr("without SyncReplicasOptimizer"), HasSubstr("worker_cpu")));
  EXPECT_THAT(of(greedy, "TensorFlow 1").text, HasSubstr("GreedyLoadBalancingStrategy"));
  EXPECT_THAT(of(greedy, "TensorFlow 1").text, HasSubstr("caching_device=worker_cpu"));
  for (const auto* list : {&fixed, &smallest, &largest, &greedy}) {
    for (const Snippet& snippet : *list) {
      EXPECT_THAT(snippet.remark, HasSubstr("asynchronous")) << snippet.framework;
      EXPECT_EQ(snippet.as_simulated, list != &greedy || snippet.framework == "TensorFlow 1");
    }
  }
}

TEST(Snippets, PytorchTakesMebibytesExceptForTheFirstBucket) {
  const Snippet own = of(
      snippets("algorithm: \"nccl\" pytorch_ddp { bucket_cap_mb: 12.5 first_bucket_bytes: 65536 }"),
      "PyTorch DDP");
  EXPECT_THAT(own.text, HasSubstr("bucket_cap_mb=12.5,"));
  EXPECT_THAT(own.text, HasSubstr("_DEFAULT_FIRST_BUCKET_BYTES = 65536"));
  EXPECT_TRUE(own.as_simulated);
  const Snippet usual = of(snippets("algorithm: \"nccl\" pytorch_ddp { }"), "PyTorch DDP");
  EXPECT_THAT(usual.text, Not(HasSubstr("bucket_cap_mb")));
  const Snippet nearest =
      of(snippets("algorithm: \"ring\" bytes_per_pack: 52428800"), "PyTorch DDP");
  EXPECT_THAT(nearest.text, HasSubstr("bucket_cap_mb=50,"));
  EXPECT_FALSE(nearest.as_simulated);
}

TEST(Snippets, MebibytesConvertBackToTheSameNumberOfBytes) {
  EXPECT_EQ(in_mebibytes(26214400), "25");
  EXPECT_EQ(in_mebibytes(524288), "0.5");
  for (const std::int64_t bytes : {1, 999, 25'000'000, 123'456'789, 1'000'000'007})
    EXPECT_EQ(std::llround(std::stod(in_mebibytes(bytes)) * 1048576), bytes);
}

TEST(Snippets, HorovodTakesBytesInTheVariableAndMebibytesInTheOption) {
  const Snippet one = of(snippets("algorithm: \"nccl\" bytes_per_pack: 67108864"), "Horovod");
  EXPECT_EQ(one.text, "export HOROVOD_FUSION_THRESHOLD=67108864\n");
  EXPECT_THAT(one.remark, HasSubstr("--fusion-threshold-mb 64)"));
}

TEST(Snippets, DeepSpeedAndMegatronTakeElements) {
  const auto of_bytes = snippets("algorithm: \"nccl\" bytes_per_pack: 160000000");
  EXPECT_THAT(of(of_bytes, "DeepSpeed").text, HasSubstr("\"reduce_bucket_size\": 40000000,"));
  EXPECT_THAT(of(of_bytes, "Megatron-LM").text,
              HasSubstr("--overlap-grad-reduce --ddp-bucket-size 40000000\n"));
  const auto halves =
      snippets("algorithm: \"nccl\" bytes_per_pack: 160000000", "gradient_type: FLOAT16");
  EXPECT_THAT(of(halves, "DeepSpeed").text, HasSubstr("\"reduce_bucket_size\": 80000000,"))
      << "of two bytes each";
  EXPECT_THAT(
      of(snippets("algorithm: \"nccl\" deepspeed { reduce_bucket_size: 7000 overlap_comm: true }"),
         "DeepSpeed")
          .text,
      HasSubstr("\"reduce_bucket_size\": 7000, \"overlap_comm\": true"));
  EXPECT_THAT(
      of(snippets(
             "algorithm: \"nccl\" megatron { overlap_grad_reduce: true ddp_bucket_size: 9000 }"),
         "Megatron-LM")
          .text,
      HasSubstr("--ddp-bucket-size 9000"));
  EXPECT_THAT(of(snippets("algorithm: \"nccl\" megatron { }"), "Megatron-LM").text,
              Not(HasSubstr("--overlap")));
}

TEST(Snippets, BytePsTakesBytes) {
  EXPECT_EQ(of(snippets("algorithm: \"pscpu\" byteps { partition_bytes: 1024000 }"), "BytePS").text,
            "export BYTEPS_PARTITION_BYTES=1024000\n")
      << "partitions are multiples of 32 KiB with 8 GPUs";
  EXPECT_THAT(of(snippets("algorithm: \"pscpu\" bytes_per_pack: 4096000"), "BytePS").text,
              HasSubstr("=4096000"));
  EXPECT_EQ(of(snippets("byteps { servers_on_workers: 2 scheduling_credit: 4 key_hash_fn: SDBM }"),
               "BytePS")
                .text,
            "export BYTEPS_PARTITION_BYTES=4096000\nexport BYTEPS_SCHEDULING_CREDIT=4 "
            "BYTEPS_KEY_HASH_FN=sdbm "
            "DMLC_NUM_SERVER=2\n");
}

TEST(Snippets, HorovodTakesBytesAndMilliseconds) {
  EXPECT_EQ(
      of(snippets("algorithm: \"nccl\" horovod { fusion_threshold: 1000000 cycle_time_ms: 2.5 }"),
         "Horovod")
          .text,
      "export HOROVOD_FUSION_THRESHOLD=1000000 HOROVOD_CYCLE_TIME=2.5 "
      "HOROVOD_CACHE_CAPACITY=1024\n");
}

/// TensorFlow's documentation says that the limit is in bytes, but its code compares numbers of
/// elements.
TEST(Snippets, LimitsOfSpecsAreElements) {
  const Snippet python =
      of(snippets("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: "
                  "\"pscpu\" shards: 2 "
                  "limit: 8192 } entry { algorithm: \"nccl\" } } num_packs: 2 } }"),
         "TensorFlow 1");
  EXPECT_THAT(python.text, HasSubstr("[(\"pscpu\", 2, 2048), (\"nccl\", 1, -1)]"))
      << "8192 bytes are 2048 elements";
  EXPECT_THAT(python.text, HasSubstr("num_packs=2,"));
  EXPECT_THAT(python.remark, HasSubstr("limits are in elements"));
  const Snippet flags =
      of(snippets("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: "
                  "\"pscpu#2:8k:nccl\" } agg_small_grads_max_bytes: 1000 } }"),
         "tf_cnn_benchmarks");
  EXPECT_THAT(flags.text,
              HasSubstr("--all_reduce_spec=pscpu#2:8192:nccl --agg_small_grads_max_bytes=1000 "
                        "--agg_small_grads_max_group=10"));
}

/// NCCL chooses the algorithm and the protocol itself if the scenario sets only the number of
/// channels.
TEST(Snippets, SetsTheNcclVariablesOfTheScenario) {
  const auto channels =
      snippets("algorithm: \"nccl\" bytes_per_pack: 0 channels: 4 reduction: MEAN");
  EXPECT_EQ(of(channels, "NCCL's variables").text,
            "export NCCL_MIN_NCHANNELS=4 NCCL_MAX_NCHANNELS=4\n");
  EXPECT_THAT(of(channels, "NCCL's tuner").text, HasSubstr("\nallreduce,0,"));
  const auto set =
      snippets("algorithm: \"nccl\" nccl { set: \"NCCL_ALGO=Ring\" set: \"NCCL_PROTO=Simple\" }");
  EXPECT_EQ(of(set, "NCCL's variables").text, "export NCCL_ALGO=Ring NCCL_PROTO=Simple\n");
  EXPECT_THAT(of(set, "NCCL's tuner").text, HasSubstr(",ring,simple,"));
  const auto buffers = snippets("algorithm: \"nccl\" nccl { set: \"NCCL_BUFFSIZE=8388608\" }");
  EXPECT_EQ(of(buffers, "NCCL's variables").text, "export NCCL_BUFFSIZE=8388608\n");
  EXPECT_TRUE(of(buffers, "NCCL's tuner").text.empty()) << "the plugin knows nothing of buffers";
  EXPECT_TRUE(of(snippets("algorithm: \"nccl\""), "NCCL's variables").text.empty())
      << "NCCL's default choice needs no variables";
}

TEST(Snippets, StateWhyThereIsNoFileForNcclsTuner) {
  const Scenario old = scenario("algorithm: \"nccl\" channels: 2 nccl { version: \"2.21.5\" }");
  const Snippets made = snippets_of(old, test::shipped_library());
  EXPECT_TRUE(of(made.list, "NCCL's tuner").text.empty());
  EXPECT_THAT(made.notes,
              ElementsAre(HasSubstr("no table was written for NCCL's tuner: NCCL 2.21.5")));
}

/// A snippet is simulated by a scenario that packs gradients by the rule of the snippet's
/// framework.
TEST(Snippets, AreSimulatedWithThePackingRuleOfTheirFramework) {
  for (const char* algorithm : {"nccl", "ring", "pscpu", "xring"}) {
    const std::string packs =
        std::string(algorithm) == "xring" ? "num_packs: 3 shards: 2" : "bytes_per_pack: 26214400";
    const Scenario made = scenario(
        fmt::format("algorithm: \"{}\" {} update: PER_PACK launch: CONCURRENT", algorithm, packs));
    for (const Snippet& snippet : snippets_of(made, test::shipped_library()).list) {
      SCOPED_TRACE(fmt::format("{} for {}", snippet.framework, algorithm));
      ASSERT_FALSE(snippet.readings.empty());
      for (const auto& reading : snippet.readings) {
        const auto read = read_scenario(made.text, "f.textproto", test::shipped_library(), reading);
        ASSERT_TRUE(read) << read.error().message();
        const Strategy& s = read->strategy;
        if (snippet.framework == "PyTorch DDP") {
          EXPECT_EQ(options_of<PytorchDdp>(s)->bucket_cap.count(), 26214400);
          EXPECT_EQ(options_of<PytorchDdp>(s)->first_bucket.count(), 26214400)
              << "a cap also applies to the first bucket";
        }
        if (snippet.framework == "Horovod") {
          EXPECT_EQ(options_of<Horovod>(s)->fusion_threshold.count(), 26214400);
        }
        if (snippet.framework == "DeepSpeed") {
          EXPECT_EQ(options_of<DeepSpeed>(s)->reduce_bucket_size, 6553600);
        }
        if (snippet.framework == "Megatron-LM") {
          EXPECT_EQ(options_of<Megatron>(s)->bucket_size, 6553600);
        }
        if (snippet.framework == "BytePS") {
          EXPECT_EQ(options_of<BytePs>(s)->partition.count(), 26214400);
        }
        const auto* tf = options_of<TensorFlow>(s);
        EXPECT_EQ(tf && tf->collective_all_reduce, snippet.framework == "TensorFlow 2");
        EXPECT_EQ(s.spec.has_value(), snippet.framework == "TensorFlow 1");
        if (s.framework && !tf) {
          EXPECT_EQ(read->plan.update, Update::kAfterAll)
              << "each bucket is updated by its optimizer";
        }
      }
    }
  }
}

/// Newer releases of PyTorch take the size of the first bucket from bucket_cap_mb if the user sets
/// it.
TEST(Snippets, DdpIsSimulatedAsOlderAndAsNewerReleases) {
  const Snippet own = of(
      snippets("algorithm: \"nccl\" pytorch_ddp { bucket_cap_mb: 12.5 first_bucket_bytes: 65536 }"),
      "PyTorch DDP");
  ASSERT_EQ(own.readings.size(), 2u);
  EXPECT_TRUE(own.readings[0].empty());
  ASSERT_EQ(own.readings[1].size(), 1u);
  EXPECT_EQ(own.readings[1][0].value, "");
  const Snippet usual_cap =
      of(snippets("algorithm: \"nccl\" pytorch_ddp { first_bucket_bytes: 65536 }"), "PyTorch DDP");
  EXPECT_EQ(usual_cap.readings.size(), 1u) << "all releases use it if there is no cap";
  EXPECT_THAT(usual_cap.text, AllOf(HasSubstr("_DEFAULT_FIRST_BUCKET_BYTES = 65536"),
                                    Not(HasSubstr("bucket_cap_mb"))));
}

/// If a ring is not NCCL's, the snippet names the backend.
TEST(Snippets, NameGlooIfTheRingIsNotNccls) {
  EXPECT_THAT(of(snippets("algorithm: \"ring\" bytes_per_pack: 52428800"), "PyTorch DDP").text,
              HasSubstr("\"gloo\""));
  EXPECT_THAT(of(snippets("algorithm: \"nccl\" bytes_per_pack: 52428800"), "PyTorch DDP").text,
              Not(HasSubstr("gloo")));
}

TEST(Snippets, AreEmptyForFrameworksWithoutTheStrategy) {
  EXPECT_TRUE(
      of(snippets("algorithm: \"pscpu\" bytes_per_pack: 1000"), "PyTorch DDP").text.empty());
  EXPECT_TRUE(of(snippets("algorithm: \"ring\" bytes_per_pack: 1000"), "BytePS").text.empty());
  EXPECT_TRUE(
      of(snippets("algorithm: \"ring\" bytes_per_pack: 1000"), "NCCL's tuner").text.empty());
}

// --- syntax ---

void expect_parses(const Snippet& snippet) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("snippet", snippet.text);
  std::vector<std::string> words;
  switch (snippet.language) {
    case Snippet::Language::kPython:
      words = {"python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())", file};
      break;
    case Snippet::Language::kJson:
      words = {"python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", file};
      break;
    case Snippet::Language::kShell: words = {"sh", "-n", file}; break;
    case Snippet::Language::kNcclTuner:
      return;  // nccl_tuner_table_test reads it with a model of NCCL's example plugin
  }
  const test::Outcome o = test::Process::of(words, {}).wait();
  EXPECT_EQ(o.status, 0) << snippet.framework << ":\n" << snippet.text << o.err;
}

TEST(Snippets, AreValidInTheirLanguages) {
  if (!test::have_program("python3")) GTEST_SKIP() << "no python3 here";
  std::set<std::string> seen;
  for (const char* strategy :
       {"algorithm: \"nccl\" bytes_per_pack: 26214400 channels: 2",
        "algorithm: \"ring\" bytes_per_pack: 0",
        "tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 1000 "
        "implementation: RING } } }",
        "algorithm: \"nccl\" pytorch_ddp { bucket_cap_mb: 12.5 first_bucket_bytes: 65536 "
        "gradient_as_bucket_view: true "
        "}",
        "algorithm: \"nccl\" pytorch_ddp { }",
        "algorithm: \"nccl\" deepspeed { reduce_bucket_size: 7000 }",
        "algorithm: \"nccl\" megatron { overlap_grad_reduce: true ddp_bucket_size: 9000 }",
        "algorithm: \"nccl\" horovod { }",
        "algorithm: \"pscpu\" byteps { partition_bytes: 1024000 }",
        "algorithm: \"pscpu\" bytes_per_pack: 4096000",
        "algorithm: \"xring\" shards: 2 num_packs: 3",
        "tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" "
        "shards: 2 limit: 8192 } "
        "entry { algorithm: \"nccl\" } } num_packs: 2 } }",
        "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu#2:8k:nccl\" } "
        "agg_small_grads_max_bytes: 1000 } }"}) {
    for (const Snippet& snippet : snippets(strategy)) {
      expect_parses(snippet);
      seen.insert(snippet.framework);
    }
  }
  EXPECT_THAT(seen, ElementsAre("BytePS", "DeepSpeed", "Horovod", "Megatron-LM", "NCCL's tuner",
                                "NCCL's variables", "PyTorch DDP", "TensorFlow 1", "TensorFlow 2",
                                "tf_cnn_benchmarks"));
}

}  // namespace
}  // namespace tutti::core
