// Search by the names of layers and gradients. The search must find the packs that carry a
// gradient, and the pieces of the backward pass that compute the gradient, according to the
// scenario's plan.

#include "gui/trace/naming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/plan/compute_kind.h"
#include "core/scenario/run_info.h"
#include "gui/comparison/comparison.h"
#include "gui/trace/search.h"
#include "tests/gui/simulated.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

using core::Span;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kBackward =
    core::SpanKind::kFirstCompute + static_cast<int>(core::ComputeKind::kBackward);

TEST(Naming, DistinguishesBeginningsWholeWordsAndPartsOfNames) {
  EXPECT_EQ(naming("conv1", "conv1"), Naming::kBegin);
  EXPECT_EQ(naming("Conv1.weight", "conv1"), Naming::kBegin);
  EXPECT_EQ(naming("layer1.0.conv1.weight", "layer1.0"), Naming::kBegin);
  EXPECT_EQ(naming("layer1.0.conv1.weight", "conv1"), Naming::kPiece);
  EXPECT_EQ(naming("cg/conv0/conv2d/kernel", "conv0/conv2d"), Naming::kPiece);
  EXPECT_EQ(naming("conv10.conv1", "conv1"), Naming::kPiece) << "the best match counts";
  EXPECT_EQ(naming("conv1_conv/kernel", "conv1"), Naming::kPart);
  EXPECT_EQ(naming("conv10", "conv1"), Naming::kPart);
  EXPECT_EQ(naming("fc", "conv1"), Naming::kNot);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::set<std::size_t> places(const std::vector<bool>& bits) {
  std::set<std::size_t> found;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) found.insert(i);
  }
  return found;
}

/// The packs of the plan that carry a gradient, and the segments that compute it.
struct Planned {
  std::set<std::size_t> packs, segments;
};
Planned planned(const core::Scenario& scenario, int gradient) {
  Planned found;
  for (std::size_t p = 0; p < scenario.plan.packs.size(); ++p) {
    for (const core::Member& member : scenario.plan.packs[p].payload.members) {
      if (member.variable == gradient) found.packs.insert(p);
    }
  }
  for (std::size_t s = 0; s < scenario.workload.segments.size(); ++s) {
    const auto& variables = scenario.workload.segments[s].variables;
    if (std::find(variables.begin(), variables.end(), gradient) != variables.end())
      found.segments.insert(s);
  }
  return found;
}

core::Scenario of_workload(const std::string& workload) {
  auto scenario = core::read_scenario(
      "cluster { workers { machine: \"dgx1-v100\" } } workload { " + workload +
          " batch: 1 } strategy { algorithm: \"ring\" bytes_per_pack: 4000000 }",
      "f.textproto", test::shipped_library());
  if (!scenario) throw std::runtime_error(scenario.error().message());
  return std::move(*scenario);
}

/// Returns true if the layer is found, and false if no layer is found. Any other result fails the
/// test.
bool is_as_planned(const core::Scenario& scenario, int gradient) {
  const core::RunInfo run = core::run_info(scenario, "simulated");
  const std::string name = scenario.workload.gradients[gradient].name;
  EXPECT_EQ(best_naming(run, lower(name)), Naming::kBegin);
  const Concerned found = concerned(run, lower(name), Naming::kBegin);
  const Planned wanted = planned(scenario, gradient);
  EXPECT_EQ(places(found.packs), wanted.packs) << name;
  const std::set<std::size_t> layers = places(found.layers);
  EXPECT_TRUE(layers.empty() || layers == wanted.segments) << name;
  return !layers.empty();
}

TEST(Naming, FindsPackAndLayerOfTheGradientsOfEveryShippedModel) {
  for (const std::string& model : test::shipped_library().names(core::Library::Kind::kModel)) {
    SCOPED_TRACE(model);
    const core::Scenario scenario =
        of_workload("model: \"" + model + "\" forward_ms: 1 backward_ms: 2");
    const auto gradients = static_cast<int>(scenario.workload.gradients.size());
    for (int g = 0; g < gradients; g += 1 + gradients / 20) {
      const std::string& name = scenario.workload.gradients[g].name;
      // The layer of wk and wv has the name of another gradient: "layers.3.attention.wq.weight".
      const bool of_sister =
          name.ends_with("attention.wk.weight") || name.ends_with("attention.wv.weight");
      EXPECT_EQ(is_as_planned(scenario, g), !of_sister) << name;
    }
  }
}

TEST(Naming, FindsPackAndLayerOfTheGradientsOfAProfile) {
  const core::Scenario scenario =
      of_workload("model: \"resnet50_torchvision\" layer_times: \"resnet50_torchvision_v100\"");
  const auto gradients = static_cast<int>(scenario.workload.gradients.size());
  for (int g = 0; g < gradients; g += 7) EXPECT_TRUE(is_as_planned(scenario, g));
}

/// The packs and layers found by repeated "find next".
struct Found {
  std::set<std::int32_t> packs, layers;
  std::set<std::string> devices;
};
Found all_found(const Trace& trace, const std::string& words) {
  Found all;
  const Query query(words, trace);
  const std::int64_t count = durations_of(trace, query).spans;
  std::optional<SpanId> at = find_next(trace, query, core::Time());
  for (std::int64_t i = 0; i < count; ++i, at = find_next(trace, query, *at)) {
    const Trace::Row& row = trace.rows()[at->row];
    if (row.spans.pack(at->index) >= 0) all.packs.insert(row.spans.pack(at->index));
    if (row.spans.layer(at->index) >= 0) all.layers.insert(row.spans.layer(at->index));
    all.devices.insert(row.track.device);
  }
  return all;
}

std::string two_layers(const std::string& strategy) {
  std::string text = test::small_scenario(strategy, 2, 2);
  const auto rename = [&](const std::string& from, const std::string& to) {
    text.replace(text.find("name: \"" + from + "\""), from.size() + 8, "name: \"" + to + "\"");
  };
  rename("a", "conv1.weight");
  rename("b", "block.conv1.weight");
  rename("c", "gpu1");
  return text;
}

TEST(Search, TheNameOfALayerFindsItsPacksAndItsBackwardSegment) {
  const auto trace = test::simulated_trace(two_layers("algorithm: \"ring\""));
  // Every gradient is a pack. Packs are in the order of creation, and the backward pass is in the
  // reverse order.
  const Found conv1 = all_found(*trace, "conv1");
  EXPECT_THAT(conv1.packs, ElementsAre(0))
      << "the name that begins with it, not all names that contain it";
  EXPECT_THAT(conv1.layers, ElementsAre(4));
  EXPECT_THAT(all_found(*trace, "CONV").packs, ElementsAre(0, 1)) << "nothing is converted here";
  EXPECT_THAT(all_found(*trace, "block.conv1.weight").layers, ElementsAre(3));
  const Found narrowed = all_found(*trace, "receive conv1 gpu1");
  EXPECT_THAT(narrowed.packs, ElementsAre(0));
  EXPECT_THAT(narrowed.layers, IsEmpty()) << "computation receives nothing";
  EXPECT_THAT(narrowed.devices, ElementsAre("gpu1"));
}

TEST(Search, AWordInRowNamesSelectsRowsUnlessPrecededByLayer) {
  const auto trace = test::simulated_trace(two_layers("algorithm: \"ring\""));
  EXPECT_THAT(all_found(*trace, "gpu1").packs, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(all_found(*trace, "layer gpu1").packs, ElementsAre(2));
  EXPECT_THAT(all_found(*trace, "layer gpu1").layers, ElementsAre(2));
  EXPECT_FALSE(find_next(*trace, Query("layer nosuch", *trace), core::Time()));
  EXPECT_FALSE(find_next(*trace, Query("nosuch", *trace), core::Time()));
}

TEST(Search, TheNameOfALayerSelectsThePackOfEachTimeline) {
  const auto first = test::simulated_trace(two_layers("algorithm: \"ring\""));
  const auto second = test::simulated_trace(two_layers("algorithm: \"ring\" bytes_per_pack: 1"));
  const Comparison b = compare_traces(first, second, Align::kStart, {"a", "b"});
  const Query query("pack conv1", *b.trace);
  std::map<std::size_t, std::set<std::int32_t>> packs;
  for (const Trace::Row& row : b.trace->rows()) {
    for (SpanRow::Index i = 0; i < row.spans.size() && query.takes_row(row); ++i) {
      if (query.takes(row, i)) packs[row.side].insert(row.spans.pack(i));
    }
  }
  EXPECT_THAT(packs[0], ElementsAre(0));
  EXPECT_THAT(packs[1], ElementsAre(4)) << "packed last-created first";
}

}  // namespace
}  // namespace tutti::gui
