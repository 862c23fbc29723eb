#include "core/nccl/tuning/constants.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "core/base/check.h"

namespace tutti::core::nccl {
namespace {

// The value of a limit that a version does not have.
constexpr double kLots = 1e9;
constexpr PerGeneration kNone = {{{{kLots, kLots, kLots}},
                                  {{kLots, kLots, kLots}},
                                  {{kLots, kLots, kLots}},
                                  {{kLots, kLots, kLots}}}};

// The changes of the constants between consecutive releases.
// SOURCE: NVIDIA/nccl (BSD-3-Clause), src/graph/tuning.cc and src/include/device.h at the tags
// given here. The single CollNet of 2.6 to 2.13 uses the row of CollNetDirect. GPUs of a generation
// that a version does not support use the values of the last supported generation.
std::vector<Constants> history() {
  using enum Algorithm;
  using enum Hardware;
  enum Generation : std::size_t { kVolta, kAmpere, kHopper, kBlackwell };

  std::vector<Constants> releases;
  Constants c{};
  c.since = {0, 0, 0};
  c.ll_max = c.ring_ll128_max = c.tree_ll128_max = c.tree_max = c.nvls_tree_max = kNone;
  const auto release = [&](Version since) {
    if (c.since >= kOldestVersion) releases.push_back(c);
    c.since = since;
  };
  const auto base = [&](Algorithm of) -> auto& { return c.base[static_cast<std::size_t>(of)]; };
  const auto hop = [&](Hardware over, Algorithm of) -> auto& {
    return c.hop[static_cast<std::size_t>(over)][static_cast<std::size_t>(of)];
  };
  const auto from = [](Generation first, PerGeneration& table, const PerScale& row) {
    std::fill(table.begin() + first, table.end(), row);
  };

  release({2, 6, 4});
  base(kTree) = {4.4, 4.4, 0};
  base(kRing) = {3.6, 3.6, 8.4};
  base(kCollNetDirect) = {4.4, 4.4, 0};
  hop(kNvlink, kTree) = {0.5, 1.9, 28};
  hop(kNvlink, kRing) = {0.4, 2.5, 5.7};
  hop(kNvlink, kCollNetDirect) = {0.5, 1.9, 4};
  hop(kPci, kTree) = {1, 1.9, 28};
  hop(kPci, kRing) = {1, 2.5, 5.7};
  hop(kPci, kCollNetDirect) = {1, 1.9, 5.5};
  hop(kNet, kTree) = {5, 7.5, 50};
  hop(kNet, kRing) = {0.9, 2.5, 6.6};
  hop(kNet, kCollNetDirect) = {5, 5, 10.7};
  c.ll128_max = {113, 72, 110, 91, 100};
  c.operations_per_batch = 1;
  release({2, 7, 3});
  base(kRing) = {3.6, 10, 8.4};
  hop(kNvlink, kTree) = {0.52, 1.2, 28};
  hop(kNvlink, kRing) = {0.47, 1.9, 3.4};
  hop(kNvlink, kCollNetDirect) = {0.5, 1.2, 4};
  hop(kNet, kTree) = {5, 8.5, 50};
  hop(kNet, kRing) = {2.7, 4, 9.6};
  c.ll128_max = {18.8, 12, 18.3, 15.2, 16.7};
  release({2, 8, 3});
  hop(kNvlink, kTree) = {0.52, 1.25, 28};
  hop(kNet, kTree) = {5, 8.5, 28};
  c.ll_max[kVolta] = {39, 39, 20.4};
  from(kAmpere, c.ll_max, {87.7, 22.5, 19});
  c.tree_max[kVolta] = {26.5, 18.5, 10};
  from(kAmpere, c.tree_max, {24, 22.5, 16});
  c.ll128_max = {18.8, 12, 18.3, 15.2, 16.9};
  release({2, 10, 3});
  hop(kNvlink, kCollNetDirect) = {0.5, 1.2, 8};
  hop(kPci, kCollNetDirect) = {1, 1.9, 8};
  from(kVolta, c.ring_ll128_max, {20, 20, 20});
  from(kVolta, c.tree_ll128_max, {20, 20, 20});
  from(kAmpere, c.tree_max, {24, 23.6, 17.8});
  c.ll128_max = {};
  c.operations_per_batch = 8;
  release({2, 12, 7});
  hop(kNet, kRing) = {2.7, 4, 28};
  release({2, 13, 4});
  c.operations_per_batch = 9;
  release({2, 14, 3});
  base(kCollNetChain) = {4.4, 4.4, 0};
  hop(kNvlink, kCollNetDirect) = {0, 0, 8};
  hop(kNvlink, kCollNetChain) = {0, 0, 8};
  hop(kPci, kCollNetDirect) = {0, 0, 8};
  hop(kPci, kCollNetChain) = {0, 0, 8};
  hop(kNet, kRing) = {2.7, 4, 9.6};
  hop(kNet, kCollNetDirect) = {0, 0, 10.7};
  hop(kNet, kCollNetChain) = {0, 0, 10.7};
  release({2, 17, 1});
  base(kNvls) = {0, 0, 40};
  from(kHopper, c.ring_ll128_max, {36.7, 36.7, 36.7});
  from(kHopper, c.tree_ll128_max, {36.7, 36.7, 36.7});
  from(kHopper, c.tree_max, {38.7, 41.4, 33});
  release({2, 18, 1});
  base(kTree) = {6.8, 14, 0};
  base(kRing) = {6.6, 14, 8.4};
  base(kCollNetDirect) = {6.8, 14, 0};
  base(kCollNetChain) = {6.8, 14, 0};
  base(kNvls) = {0, 0, 23};
  base(kNvlsTree) = {0, 0, 23};
  hop(kNvlink, kTree) = {0.6, 1.25, 28};
  hop(kNvlink, kRing) = {0.6, 1.9, 3.4};
  hop(kNvlink, kCollNetChain) = {0, 0, 4.75};
  hop(kNet, kRing) = {2.7, 4, 14};
  hop(kNet, kCollNetChain) = {0, 0, 14};
  hop(kNet, kNvls) = {0, 0, 18};
  hop(kNet, kNvlsTree) = {0, 0, 19};
  release({2, 18, 3});
  hop(kNvlink, kTree) = {0.6, 1.25, 4};
  hop(kPci, kTree) = {1, 1.9, 6};
  hop(kNet, kTree) = {5, 8.5, 14};
  from(kHopper, c.tree_ll128_max, {36.7, 36.7, 29});
  from(kHopper, c.tree_max, {38.7, 41.4, 36});
  release({2, 19, 1});
  base(kCollNetDirect) = {0, 0, 0};
  base(kCollNetChain) = {0, 0, 0};
  base(kNvls) = {0, 0, 0};
  base(kNvlsTree) = {0, 0, 0};
  hop(kNvlink, kTree) = {0.6, 1.25, 28};
  hop(kNvlink, kCollNetDirect) = {0, 0, 3.7};
  hop(kNvlink, kCollNetChain) = {0, 0, 2.8};
  hop(kNvlink, kNvls) = {0, 0, 23};
  hop(kNvlink, kNvlsTree) = {0, 0, 23};
  hop(kPci, kTree) = {1, 1.9, 28};
  hop(kPci, kCollNetDirect) = {0, 0, 3.7};
  hop(kPci, kCollNetChain) = {0, 0, 2.8};
  hop(kNet, kTree) = {5, 8.5, 28};
  hop(kNet, kCollNetDirect) = {0, 0, 31};
  hop(kNet, kCollNetChain) = {0, 0, 30};
  hop(kNet, kNvlsTree) = {0, 0, 14};
  release({2, 21, 5});
  hop(kNvlink, kNvls) = {0, 0, 25};
  hop(kNvlink, kNvlsTree) = {0, 0, 25};
  from(kHopper, c.ll_max, {141, 45, 35});
  release({2, 22, 3});
  c.operations_per_batch = 16;
  release({2, 23, 4});
  base(kTree) = {6.8, 14, 8.4};
  base(kPat) = {8, 8, 8};
  hop(kNvlink, kTree) = {0.6, 1.25, 4};
  hop(kPci, kTree) = {1, 1.9, 4};
  hop(kNet, kTree) = {5, 8.5, 14};
  c.operations_per_batch = 10;
  release({2, 25, 1});
  c.ll_max[kBlackwell] = {282, 90, 70};
  c.ring_ll128_max[kBlackwell] = {73.4, 73.4, 73.4};
  c.tree_ll128_max[kBlackwell] = {73.4, 73.4, 58};
  c.tree_max[kBlackwell] = {77.4, 82.8, 72};
  release({2, 28, 3});
  hop(kNvlink, kPat) = {0, 0, 4};
  hop(kPci, kPat) = {0, 0, 4};
  hop(kNet, kPat) = {0, 0, 14};
  c.tree_ll128_max[kBlackwell] = {55.6, 31.67, 20};
  c.tree_max[kBlackwell] = {70, 42.8, 24};
  c.nvls_tree_max[kVolta] = {26.5, 18.5, 10};
  c.nvls_tree_max[kAmpere] = {24, 23.6, 17.8};
  c.nvls_tree_max[kHopper] = {0, 57.7, 45.5};
  c.nvls_tree_max[kBlackwell] = {0, 96, 43.1};
  c.nvls_efficiency = {0, 0, 0.85, 0.74};
  release({2, 28, 7});
  c.ring_ll128_max[kBlackwell] = {73.4, 34.6, 73.4};
  release({2, 28, 9});
  hop(kNet, kNvlsTree) = {0, 0, 20.9};
  c.nvls_tree_max[kBlackwell] = {0, 96, 43.8};
  release({2, 29, 2});
  c.ring_ll128_max[kBlackwell] = {34.5, 34.6, 34.5};
  release({2, 29, 7});
  c.ring_ll128_max[kBlackwell] = {40, 40, 40};
  release({2, 30, 3});
  c.nvls_tree_max[kBlackwell] = {0, 96, 80};
  c.operations_per_batch = 8;

  releases.push_back(c);
  return releases;
}

// The factors, indexed by log2(bytes / 64).
// clang-format off
constexpr TreeCorrection kTreeCorrections[] = {
    {{2, 6, 4},
     22,
     {{{{1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 1, 1, 1, 1, 1}},
       {{1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.8, 0.7, 0.7, 0.7, 0.6, 0.6, 0.7, 0.7, 0.8, 0.8, 0.9, 0.9, 1, 1, 1}},
       {{0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.7, 0.8, 0.9, 1, 1}}}}},
    {{2, 7, 3},
     22,
     {{{{1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1, 1}},
       {{1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 0.9, 1, 1, 1}},
       {{0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.7, 0.8, 0.9, 1, 1}}}}},
    {{2, 8, 3},
     23,
     {{{{1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1, 1}},
       {{1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 0.9, 0.92, 0.92, 1}},
       {{0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 1}}}}},
    {{2, 10, 3},
     23,
     {{{{1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1, 1}},
       {{1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1, 1}},
       {{0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 1}}}}},
    {{2, 29, 2},
     24,
     {{{{1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1, 1}},
       {{1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1, 1}},
       {{0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}}}},
};
// clang-format on

template <class Rows>
const auto& newest(const Rows& rows, Version version) {
  const auto behind =
      std::upper_bound(std::begin(rows), std::end(rows), version,
                       [](Version requested, const auto& row) { return requested < row.since; });
  TUTTI_CHECK(behind != std::begin(rows), "NCCL {}.{} is older than the oldest known release",
              version.major, version.minor);
  return *std::prev(behind);
}

}  // namespace

const Constants& constants_of(Version version) {
  static const std::vector<Constants> releases = history();
  return newest(releases, version);
}

const TreeCorrection& tree_correction_of(Version version) {
  return newest(kTreeCorrections, version);
}

}  // namespace tutti::core::nccl
