// Runs the packing cases that were collected from TensorFlow's sources and tests. Each case names
// its source (tests/reference/tensorflow).

#include <gtest/gtest.h>

#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/packing/aggregate_small.h"
#include "core/packing/bytes_per_pack.h"
#include "core/packing/concat_and_split.h"
#include "core/packing/device_groups.h"
#include "core/packing/scoped_allocator.h"
#include "core/strategy/collective.h"
#include "core/workload/model.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::Data;
using test::golden_cases;

std::vector<std::vector<int>> lists(const Data& data) {
  std::vector<std::vector<int>> all;
  for (const Data& item : data.items()) all.push_back(item.ints());
  return all;
}

TEST(TensorFlowPacking, BytesPerPack) {
  for (const Data& c : golden_cases("bytes_per_pack (pack_by_size / group_by_size)")) {
    SCOPED_TRACE(test::golden_name(c));
    std::vector<std::optional<Bytes>> sizes;
    if (c["input"].has("tensor_bytes")) {
      for (const std::int64_t b : c["input"]["tensor_bytes"].numbers())
        sizes.emplace_back(Bytes(b));
    } else {
      for (const Data& shape : c["input"]["shapes"].items()) {
        std::int64_t elements = 1;
        bool is_known = true;
        for (const Data& side : shape.items()) {
          is_known = is_known && !side.is_null();
          if (is_known) elements *= side.number();
        }
        sizes.push_back(is_known ? std::optional(Bytes(4 * elements)) : std::nullopt);
      }
    }
    const auto packs = pack_by_bytes(sizes, Bytes(c["input"]["bytes_per_pack"].number()));
    if (!c["expected"]["packs"].is_list()) {
      EXPECT_EQ(packs.size(), 1u);
      EXPECT_EQ(packs[0].size(), sizes.size());
      continue;
    }
    std::vector<std::vector<std::int64_t>> got, expected;
    for (const std::vector<int>& pack : packs) {
      got.emplace_back();
      for (const int i : pack) got.back().push_back(sizes[i]->count());
    }
    for (const Data& pack : c["expected"]["packs"].items()) expected.push_back(pack.numbers());
    EXPECT_EQ(got, expected);
  }
}

TEST(TensorFlowPacking, NumPacks) {
  for (const Data& c : golden_cases("num_packs (ConcatAndSplitPacker)")) {
    SCOPED_TRACE(test::golden_name(c));
    EXPECT_EQ(
        concat_and_split(c["input"]["total_elements"].number(), c["input"]["num_packs"].number()),
        c["expected"]["pack_elements"].numbers());
  }
}

TEST(TensorFlowPacking, NumPacksOfTensorFlow21CountsTensors) {
  for (const Data& c : golden_cases("CollectiveAllReduce.num_packs (2.1-era)")) {
    SCOPED_TRACE(test::golden_name(c));
    std::vector<std::int64_t> expected;
    for (const Data& chunk : c["expected"]["chunks_before_reversal"].items())
      expected.push_back(static_cast<std::int64_t>(chunk.items().size()));
    EXPECT_EQ(chunk_by_count(c["input"]["num_tensors"].number(), c["input"]["num_packs"].number()),
              expected);
  }
  EXPECT_EQ(chunk_by_count(2, 5), std::vector<std::int64_t>{2})
      << "fewer tensors than packs: one chunk";
}

TEST(TensorFlowPacking, AggregateSmallGradients) {
  for (const Data& c : golden_cases("agg_small_grads (AggregateSmallTensorPacker)")) {
    SCOPED_TRACE(test::golden_name(c));
    if (c["input"].has("dtype")) {
      const std::vector<SmallGradient> pair(
          2, {c["input"]["elements"].number(), *parse_data_type(c["input"]["dtype"].text())});
      EXPECT_EQ(aggregate_small(pair, Bytes(1 << 20), 10).size(), 2u) << "only float32 is packed";
      continue;
    }
    std::vector<SmallGradient> gradients;
    for (const std::int64_t e : c["input"]["float32_tensor_elements"].numbers())
      gradients.push_back({e, DataType::kFloat32});
    EXPECT_EQ(aggregate_small(gradients, Bytes(c["input"]["max_bytes"].number()),
                              c["input"]["max_group"].number()),
              lists(c["expected"]["reduced_units_as_input_indices"]));
  }
}

TEST(TensorFlowPacking, ExtractRanges) {
  for (const Data& c : golden_cases("extract_ranges")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<int> indices = c["input"]["indices"].ints();
    const IndexRuns result = extract_ranges(indices, c["input"]["range_size_limit"].number());
    std::vector<std::vector<int>> ends;
    for (const std::vector<int>& run : result.runs) ends.push_back({run.front(), run.back()});
    EXPECT_EQ(ends, lists(c["expected"]["ranges"]));
    EXPECT_EQ(result.singles, c["expected"]["singles"].ints());
  }
}

/// The size of a packed range is the sum of its elements, in order.
TEST(TensorFlowPacking, PackRange) {
  for (const Data& c : golden_cases("pack_range")) {
    SCOPED_TRACE(test::golden_name(c));
    std::vector<SmallGradient> gradients;
    std::int64_t total = 0;
    for (const Data& shape : c["input"]["shapes"].items()) {
      gradients.push_back({*elements_of(shape.numbers()), DataType::kFloat32});
      total += gradients.back().elements;
    }
    const auto units = aggregate_small(gradients, Bytes(1 << 20), 10);
    ASSERT_EQ(units.size(), 1u);
    EXPECT_EQ(units[0], c["expected"]["indices"].ints());
    EXPECT_EQ(total, c["expected"]["packed_elements"].number());
  }
}

/// Unpacking returns every gradient to its place. Together, the packed and the unpacked gradients
/// are all gradients, each exactly once.
TEST(TensorFlowPacking, UnpackSmallTensors) {
  for (const Data& c : golden_cases("unpack_small_tensors")) {
    SCOPED_TRACE(test::golden_name(c));
    // Gradients 0, 1, 3 and 4 are small; 2 and 5 are not.
    const std::vector<SmallGradient> gradients{{1, {}}, {1, {}}, {999, {}},
                                               {1, {}}, {1, {}}, {999, {}}};
    std::vector<SmallGradient> typed = gradients;
    for (SmallGradient& g : typed) g.type = DataType::kFloat32;
    const auto units = aggregate_small(typed, Bytes(40), 10);
    ASSERT_EQ(units.size(), c["input"]["list_after_pack"].items().size());
    EXPECT_EQ(units[0], c["input"]["packs"].items()[0].ints());
    EXPECT_EQ(units[1], c["input"]["packs"].items()[1].ints());
    std::vector<std::string> restored(typed.size());
    for (const std::vector<int>& unit : units) {
      for (const int i : unit) restored[i] = "v" + std::to_string(i);
    }
    std::vector<std::string> expected;
    for (const Data& name : c["expected"]["restored_order"].items())
      expected.push_back(name.text());
    EXPECT_EQ(restored, expected);
  }
}

TEST(TensorFlowPacking, ScopedAllocatorFields) {
  for (const Data& c : golden_cases("ScopedAllocator fields")) {
    SCOPED_TRACE(test::golden_name(c));
    std::vector<Bytes> sizes;
    for (const std::int64_t e : c["input"]["float32_elements"].numbers()) sizes.emplace_back(4 * e);
    const ScopedLayout layout = scoped_layout(sizes, Bytes(c["input"]["alignment"].number()));
    std::vector<std::int64_t> offsets;
    for (const Bytes offset : layout.offsets) offsets.push_back(offset.count());
    EXPECT_EQ(offsets, c["expected"]["offsets"].numbers());
    EXPECT_EQ(layout.total.count(), c["expected"]["total_bytes"].number());
  }
}

TEST(TensorFlowPacking, HelperDevicesAreAssignedWithAStride) {
  for (const Data& c : golden_cases("shuffle.group_device_names")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<Data> devices = c["input"]["devices"].items();
    std::vector<std::vector<std::string>> got, expected;
    for (const std::vector<int>& group :
         group_devices(static_cast<int>(devices.size()),
                       static_cast<int>(c["input"]["group_size"].number()))) {
      got.emplace_back();
      for (const int d : group) got.back().push_back(devices[d].text());
    }
    for (const Data& group : c["expected"]["groups"].items()) {
      expected.emplace_back();
      for (const Data& d : group.items()) expected.back().push_back(d.text());
    }
    EXPECT_EQ(got, expected);
  }
}

TEST(TensorFlowPacking, RaggedSplit) {
  for (const Data& c : golden_cases("shuffle.ragged_split")) {
    SCOPED_TRACE(test::golden_name(c));
    const RaggedCut cut{c["input"]["elements"].number(), c["input"]["pieces"].number()};
    std::vector<std::int64_t> pieces;
    for (std::int64_t i = 0; i < cut.parts; ++i) pieces.push_back(cut.size(i));
    EXPECT_EQ(pieces, c["expected"]["pieces"].numbers());
  }
}

/// After the halving hops, every block of elements is owned by the rank whose number is the block's
/// with reversed bits.
TEST(TensorFlowPacking, HalvingDoublingOwnership) {
  for (const Data& c : golden_cases("rechd.ownership")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto devices = static_cast<std::int32_t>(c["input"]["devices"].number());
    const auto schedule = halving_doubling_all_reduce(devices, c["input"]["elements"].number());
    std::vector<std::int64_t> owned;
    for (Rank r = 0; r < devices; ++r)
      owned.push_back(schedule->step(r, 0, schedule->steps(r, 0) / 2 - 1).target.offset);
    EXPECT_EQ(owned, c["expected"]["element_owned_after_halving"].numbers());
  }
}

TEST(TensorFlowPacking, HalvingDoublingNeedsAPowerOfTwo) {
  for (const Data& c : golden_cases("rechd.build")) {
    const auto cluster = test::plain_cluster(static_cast<int>(c["input"]["devices"].number()));
    const auto problems =
        problems_of(Strategy::for_algorithm(BaseAlgorithm::kHalvingDoubling), *cluster);
    ASSERT_EQ(problems.size(), 1u) << c["id"].text();
    EXPECT_EQ(problems[0].code, ProblemCode::kConflict);
    EXPECT_EQ(problems[0].field, "algorithm");
  }
}

/// Compares the neighbours of each rank in each of the rotated rings. The collective orders
/// replicas worker by worker, in the machine's order. Cases with another order inside a worker
/// ("gpu_perm") are therefore compared with the ring itself.
TEST(TensorFlowPacking, RotatedRings) {
  for (const Data& c : golden_cases("xring.ring_permutations")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<std::int32_t> order = c["input"]["gpu_perm"].ints();
    const auto workers = static_cast<int>(c["input"]["num_workers"].number());
    const auto rings = static_cast<std::int32_t>(c["input"]["num_subchunks"].number());
    if (order.empty()) continue;  // there are no devices, so there is no ring
    const auto per_worker = static_cast<std::int32_t>(order.size());
    RingOptions options;
    options.lanes.clear();
    for (std::int32_t s = 0; s < rings; ++s) {
      RingPath path{per_worker, {}};
      const std::int32_t turn = s * std::max(1, per_worker / rings);
      for (std::int32_t i = 0; i < per_worker; ++i)
        path.local.push_back(order[(i + turn) % per_worker]);
      options.lanes.push_back(std::move(path));
    }
    const std::int32_t n = workers * per_worker;
    const auto schedule = ring_all_reduce(n, std::int64_t{n} * rings, options);
    const auto expected = lists(c["expected"]["pred_by_subchunk_device"]);
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(rings));
    for (Lane lane = 0; lane < rings; ++lane) {
      for (Rank r = 0; r < n; ++r) {
        const Step last = n == 1 ? Step{} : schedule->step(r, lane, schedule->steps(r, lane) - 1);
        const Rank predecessor = n == 1 ? 0 : last.from.rank(r, n);
        EXPECT_EQ(predecessor, expected[lane][r]) << "ring " << lane << ", rank " << r;
      }
    }
  }
}

}  // namespace
}  // namespace tutti::core
