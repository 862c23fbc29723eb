// Plans by Tutti's own packing options: how gradients are assigned to packs, in which order the
// packs are launched, and which limits, conversions and paddings apply.

#include "core/lowering/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/framework/pytorch/pytorch_ddp.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns a workload with gradients of these sizes (in elements) in creation order, without times.
Workload gradients(const std::vector<std::int64_t>& sizes, std::vector<DataType> types = {}) {
  Workload w;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Variable v;
    v.name = "v" + std::to_string(i);
    v.elements = sizes[i];
    if (i < types.size()) v.type = types[i];
    w.gradients.push_back(v);
    w.segments.push_back({v.name, {static_cast<int>(i)}});
  }
  return w;
}

class PlanTest : public testing::Test {
 protected:
  std::shared_ptr<const Cluster> cluster_ = test::plain_cluster(4);
  Strategy strategy_ = Strategy::for_algorithm(BaseAlgorithm::kRing);

  Plan plan(const Workload& w) {
    auto p = make_plan(w, strategy_, *cluster_);
    EXPECT_TRUE(p) << (p ? "" : p.error().text);
    return p ? std::move(*p) : Plan{};
  }
  static std::vector<std::vector<int>> variables(const Plan& p) {
    std::vector<std::vector<int>> lists;
    for (const Pack& pack : p.packs) {
      lists.emplace_back();
      for (const Member& m : pack.payload.members) lists.back().push_back(m.variable);
    }
    return lists;
  }
};

TEST_F(PlanTest, WithoutPackingEveryGradientIsOnePack) {
  const Plan p = plan(gradients({10, 20, 30}));
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_EQ(p.collective(p.packs[1]).elements, 20);
  EXPECT_EQ(p.packs[1].copied_in, Bytes()) << "a single gradient is sent without a copy";
}

TEST_F(PlanTest, CountsTheCopiesOfBucketsAndOfXringsPadding) {
  strategy_ = Strategy::for_algorithm(BaseAlgorithm::kXring);
  strategy_.framework = pytorch_ddp({Bytes(1000), Bytes(1000), false});
  const Plan p = plan(gradients({10, 7}));
  ASSERT_EQ(p.packs.size(), 1u);
  EXPECT_EQ(p.collective(p.packs[0]).elements, 20) << "17, in four chunks of five";
  EXPECT_EQ(p.packs[0].copied_in, Bytes(4 * (17 + 20)));
  EXPECT_EQ(p.packs[0].copied_out, Bytes(4 * 17));
}

TEST_F(PlanTest, BytesPerPackPacksInReverseOrderOfCreationAndPadsTo64Bytes) {
  strategy_.bytes_per_pack = Bytes(100);
  const Plan p = plan(gradients({75, 2, 2, 50, 15, 12}));  // bytes 300 8 8 200 60 48
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(5, 4), ElementsAre(3), ElementsAre(2, 1, 0)));
  EXPECT_EQ(p.packs[0].payload.members[1].offset, 16) << "48 bytes and 16 of padding";
  EXPECT_EQ(p.collective(p.packs[0]).bytes(), Bytes(128))
      << "the padding after the last gradient is sent, too";
  EXPECT_EQ(p.collective(p.packs[1]).bytes(), Bytes(200)) << "a gradient alone is not padded";
  EXPECT_EQ(p.packs[0].copied_in, Bytes());
}

TEST_F(PlanTest, PaddedPacksCutEvenlyOverReplicasAndRings) {
  strategy_.pad_packs = true;
  strategy_.shards = 3;
  strategy_.bytes_per_pack = Bytes(100);
  const Plan p = plan(gradients({75, 2, 1, 50, 15, 12}));
  for (const Pack& pack : p.packs) {
    EXPECT_EQ(p.collective(pack).elements % (4 * 3), 0);
    EXPECT_TRUE(p.collective(pack).schedule->same_everywhere(Renumbering::kShift, 1))
        << p.collective(pack).elements;
  }
  EXPECT_EQ(p.collective(p.packs[1]).elements, 60) << "50 elements, with the minimum of padding";
  EXPECT_EQ(p.packs[1].payload.members[0].count, 50);

  strategy_ = Strategy::for_algorithm(BaseAlgorithm::kHalvingDoubling);
  strategy_.pad_packs = true;
  EXPECT_EQ(plan(gradients({7})).collectives[0].first.elements, 8);
  strategy_.collective = CollectiveKind::kReduceScatter;
  EXPECT_EQ(plan(gradients({7})).collectives[0].first.elements, 8)
      << "which gives everybody an equal block";
}

TEST_F(PlanTest, BytesPerPackCountsBytesAfterConvertingGradients) {
  strategy_.bytes_per_pack = Bytes(100);
  strategy_.merging = Merging::kConcat;
  strategy_.compression = Compression{DataType::kFloat16, false};
  const Plan p = plan(gradients({10, 20, 30, 40}));  // 20, 40, 60, 80 bytes in float16
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(3, 2), ElementsAre(1, 0)))
      << "closed at 140 bytes, not at 160";
  EXPECT_EQ(p.collective(p.packs[0]).bytes(), Bytes(140));
  EXPECT_EQ(p.packs[0].copied_in, Bytes(140));
  EXPECT_EQ(p.packs[0].converted_in, Bytes())
      << "gradients are converted as soon as they are ready";
  EXPECT_EQ(p.packs[0].converted_out, Bytes(70 * (2 + 4)));
}

TEST_F(PlanTest, BytesPerPackCountsBytesBeforeConvertingPacks) {
  strategy_.bytes_per_pack = Bytes(100);
  strategy_.compression = Compression{DataType::kBfloat16, true};
  const Plan p = plan(gradients({10, 20, 30, 40}, {}));
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(3), ElementsAre(2), ElementsAre(1, 0)));
  EXPECT_EQ(p.collective(p.packs[0]).bytes(), Bytes(80));
  EXPECT_EQ(p.packs[0].converted_in, Bytes(40 * (4 + 2)));
  EXPECT_EQ(p.packs[0].converted_out, Bytes(40 * (4 + 2)));
  EXPECT_EQ(p.collective(p.packs[2]).elements, (128 + 64) / 4)
      << "as laid out before, padding included";
  EXPECT_EQ(p.packs[2].converted_in, Bytes(48 * 6));
}

TEST_F(PlanTest, NotesConversionsWithoutEffect) {
  strategy_.compression = Compression{DataType::kFloat16, false};
  const Plan p =
      plan(gradients({10, 20, 30}, {DataType::kInt32, DataType::kFloat16, DataType::kFloat64}));
  EXPECT_EQ(p.collective(p.packs[0]).bytes(), Bytes(40));
  EXPECT_EQ(p.packs[0].converted_out, Bytes());
  EXPECT_EQ(p.packs[1].converted_out, Bytes());
  EXPECT_EQ(p.packs[2].converted_out, Bytes(30 * (2 + 8)));
  EXPECT_THAT(p.notes.codes(), testing::ElementsAre("plan.not-converted"));
  EXPECT_THAT(p.notes.texts().front(), HasSubstr("2 of 3 gradients"));
}

TEST_F(PlanTest, PacksAllGradientsTogether) {
  strategy_.bytes_per_pack = Bytes(0);
  EXPECT_EQ(plan(gradients({1, 2, 3})).packs.size(), 1u);
}

TEST_F(PlanTest, NumPacksCutsGradientsAndWaitsForAllOfThem) {
  strategy_.num_packs = 3;
  const Plan p = plan(gradients({5, 1, 4}));
  ASSERT_EQ(p.packs.size(), 3u);
  EXPECT_EQ(p.collective(p.packs[2]).elements, 4) << "the remainder goes to the last";
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(0), ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_EQ(p.packs[1].payload.members[0].first, 3);
  EXPECT_EQ(p.packs[1].payload.members[0].count, 2);
  EXPECT_EQ(p.packs[1].payload.members[1].offset, 2);
  EXPECT_TRUE(p.packs[0].needs_all_gradients);
  Bytes in, out;
  for (const Pack& pack : p.packs) {
    in += pack.copied_in;
    out += pack.copied_out;
  }
  EXPECT_EQ(in, Bytes(2 * 40)) << "concatenate and cut: everything is copied twice";
  EXPECT_EQ(out, Bytes(2 * 40));
}

TEST_F(PlanTest, MorePacksThanElementsLeaveSomeEmpty) {
  strategy_.num_packs = 5;
  const Plan p = plan(gradients({3}));
  EXPECT_EQ(p.packs.size(), 1u) << "floor(3 / 5) elements in the first four";
  EXPECT_EQ(p.notes.codes().front(), "plan.empty-packs");
  EXPECT_THAT(p.notes.texts().front(), HasSubstr("4 of 5 packs"));
}

TEST_F(PlanTest, NumPacksNeedsOneType) {
  strategy_.num_packs = 2;
  const auto p =
      make_plan(gradients({1, 1}, {DataType::kFloat32, DataType::kFloat16}), strategy_, *cluster_);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().field, "num_packs");
}

TEST_F(PlanTest, SmallGradientsArePackedFirst) {
  strategy_.agg_small_grads_max_bytes = Bytes(40);
  const Plan p = plan(gradients({125, 6, 5, 7, 100}));
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(1, 2, 3), ElementsAre(0), ElementsAre(4)));
  EXPECT_EQ(p.packs[0].copied_in, Bytes(18 * 4)) << "small gradients are copied together";
  EXPECT_EQ(p.packs[1].copied_in, Bytes());
}

TEST_F(PlanTest, MergeScopeCountsConsecutiveUnits) {
  strategy_.all_reduce_merge_scope = 2;
  EXPECT_THAT(variables(plan(gradients({1, 1, 1, 1, 1}))),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  strategy_.agg_small_grads_max_bytes = Bytes(4);
  EXPECT_THAT(variables(plan(gradients({1, 1, 9, 9, 9}))),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)))
      << "a run counts as one unit";
}

TEST_F(PlanTest, NotesThatTensorFlowMergesOnlyRingAndNccl) {
  const char* const note = "plan.merges-like-tensorflow";
  strategy_.all_reduce_merge_scope = 2;
  strategy_.merging = Merging::kConcat;
  EXPECT_FALSE(plan(gradients({1, 2, 3})).notes.has(note)) << "ring";
  strategy_ = Strategy::for_algorithm(BaseAlgorithm::kXring);
  strategy_.all_reduce_merge_scope = 2;
  EXPECT_TRUE(plan(gradients({1, 2, 3})).notes.has(note));
}

TEST_F(PlanTest, MergingIsOffOrByConcatenation) {
  strategy_.bytes_per_pack = Bytes(0);
  strategy_.merging = Merging::kSeparate;
  EXPECT_EQ(plan(gradients({1, 2, 3})).packs.size(), 3u);
  strategy_.merging = Merging::kConcat;
  const Plan p = plan(gradients({1, 2, 3}));
  EXPECT_EQ(p.collective(p.packs[0]).bytes(), Bytes(24)) << "no padding";
  EXPECT_EQ(p.packs[0].copied_in, Bytes(24));
  EXPECT_EQ(p.packs[0].copied_out, Bytes(24));
}

/// TensorFlow's ScopedAllocator merges nothing if types differ: "Group ops don't all have same
/// type". The golden cases for its grouping show this.
TEST_F(PlanTest, MixedTypesInOnePackDisableTheScopedAllocatorForAllPacks) {
  const std::vector<DataType> types{DataType::kFloat32, DataType::kFloat32, DataType::kFloat32,
                                    DataType::kFloat16};
  strategy_.bytes_per_pack = Bytes(4);  // last-created first: 2 and 4 bytes, then the others
  const Workload workload = gradients({1, 1, 1, 1}, types);
  const Plan p = plan(workload);
  EXPECT_EQ(p.packs.size(), 4u) << "the second pack is not merged either";
  EXPECT_EQ(p.notes.codes().front(), "plan.scoped-allocator-gives-up");
  strategy_.merging = Merging::kConcat;
  const Plan copied = plan(workload);
  EXPECT_EQ(copied.packs.size(), 3u)
      << "with concatenation, only the pack with mixed types is not merged";
  EXPECT_EQ(copied.notes.codes().front(), "plan.types-differ");
}

TEST_F(PlanTest, SerialisedPacksFormAChainLastCreatedFirst) {
  strategy_.launch = Launch::kSerial;
  Plan p = plan(gradients({1, 2, 3}));
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
  EXPECT_EQ(p.packs[0].after, -1);
  EXPECT_EQ(p.packs[2].after, 1);
  strategy_.bytes_per_pack = Bytes(1);
  p = plan(gradients({1, 2, 3}));
  EXPECT_THAT(variables(p), ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)))
      << "packs are reversed already";
}

TEST_F(PlanTest, EmptyGradientsAreInNoPack) {
  EXPECT_EQ(plan(gradients({0, 5, 0})).packs.size(), 1u);
  EXPECT_FALSE(make_plan(gradients({0}), strategy_, *cluster_));
}

TEST_F(PlanTest, EveryPackingPutsEveryElementIntoExactlyOnePack) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> sizes;
    for (std::uint64_t i = 1 + random.below(30); i > 0; --i)
      sizes.push_back(static_cast<std::int64_t>(random.below(200)));
    sizes.push_back(1);
    strategy_ = Strategy::for_algorithm(random.below(2) == 0 ? BaseAlgorithm::kRing
                                                             : BaseAlgorithm::kPscpu);
    switch (random.below(5)) {
      case 0:
        strategy_.bytes_per_pack = Bytes(static_cast<std::int64_t>(random.below(1500)));
        break;
      case 1: strategy_.num_packs = 1 + static_cast<int>(random.below(9)); break;
      case 2:
        strategy_.agg_small_grads_max_bytes =
            Bytes(1 + static_cast<std::int64_t>(random.below(500)));
        break;
      case 3: strategy_.all_reduce_merge_scope = 1 + static_cast<int>(random.below(8)); break;
      default: break;
    }
    if (random.below(2) == 0) strategy_.launch = Launch::kSerial;
    const Workload w = gradients(sizes);
    const Plan p = plan(w);
    std::vector<std::vector<int>> times(sizes.size());
    for (std::size_t v = 0; v < sizes.size(); ++v)
      times[v].assign(static_cast<std::size_t>(sizes[v]), 0);
    for (const Pack& pack : p.packs) {
      std::int64_t free_from = 0;
      for (const Member& m : pack.payload.members) {
        EXPECT_GE(m.offset, free_from) << "members overlap";
        free_from = m.offset + m.count;
        for (std::int64_t e = 0; e < m.count; ++e) ++times[m.variable][m.first + e];
      }
      EXPECT_LE(free_from, p.collective(pack).elements);
    }
    for (const auto& variable : times) {
      for (const int count : variable) ASSERT_EQ(count, 1);
    }
  }
}

}  // namespace
}  // namespace tutti::core
