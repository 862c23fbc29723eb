#include "core/advice/what_if.h"

#include <algorithm>

#include <fmt/format.h>
#include <google/protobuf/text_format.h>

#include "core/calibrate/cluster_figures.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/nccl_communicators.h"

namespace tutti::core {
namespace {

constexpr double kBetter = 2;

class WhatIfMaker {
 public:
  WhatIfMaker(const proto::Scenario& message, const Scenario& scenario)
      : message_(message), scenario_(scenario) {}

  void add(const std::string& what, const proto::Scenario& message) {
    std::string text;
    google::protobuf::TextFormat::PrintToString(message, &text);
    made_.list.push_back({what, std::move(text)});
  }

  void add_figures(const ClusterFigures& figures) {
    std::vector<double> values;
    for (const ClusterFigure& figure : figures.list()) values.push_back(figure.before);
    for (std::size_t f = 0; f < values.size(); ++f) {
      const ClusterFigure& figure = figures.list()[f];
      if (figure.before <= 0) continue;
      std::vector<double> better = values;
      const bool rate = figure.kind == ClusterFigure::Kind::kRate;
      better[f] = std::clamp(rate ? figure.before * kBetter : figure.before / kBetter, figure.least,
                             figure.most);
      proto::Scenario message = message_;
      figures.put(better, message);
      add(fmt::format("{} {}: {:.4g} → {:.4g} {}", rate ? "twice" : "half", figure.name,
                      figure.before, better[f], rate ? "GB/s" : "µs"),
          message);
    }
    made_.notes = figures.notes();
  }

  void add_computation(const Summary& summary) {
    const auto parts = summary.steady_parts();
    if (!parts || parts->forward + parts->backward <= Time() ||
        scenario_.cluster->groups().size() != 1)
      return;
    proto::Scenario message = message_;
    const StepTimes& times = scenario_.workload.times.front();
    message.mutable_workload()->set_forward_ms(to_ms(times.forward) / kBetter);
    message.mutable_workload()->set_backward_ms(to_ms(times.backward_total()) / kBetter);
    add("computation is twice as fast, which leaves less time to overlap communication", message);
  }

  void add_strategy() {
    const Strategy& s = scenario_.strategy;
    const auto with = [&](const std::string& what, auto&& change) {
      proto::Scenario message = message_;
      change(*message.mutable_strategy());
      add(what, message);
    };
    if (s.staging != Staging::kDirect && scenario_.cluster->workers() > 1) {
      with(
          "GPUs access the network directly, without copies through host memory (strategy.staging: "
          "DIRECT)",
          [](proto::Strategy& p) { p.set_staging(proto::Strategy::DIRECT); });
    }
    // NCCL executes the packs of a communicator one after the other in any case.
    const bool launch_matters = scenario_.plan.packs.size() > 1 && !packs_share_communicators(s);
    if (s.launch == Launch::kSerial && launch_matters) {
      with("packs start as soon as they are ready (strategy.launch: CONCURRENT)",
           [](proto::Strategy& p) { p.set_launch(proto::Strategy::CONCURRENT); });
    }
    if (s.launch == Launch::kConcurrent && launch_matters) {
      with("each pack starts only after the previous pack has ended (strategy.launch: SERIAL)",
           [](proto::Strategy& p) { p.set_launch(proto::Strategy::SERIAL); });
    }
    if (scenario_.plan.update == Update::kAfterAll && scenario_.plan.packs.size() > 1) {
      with("each pack updates its variables when it completes (strategy.update: PER_PACK)",
           [](proto::Strategy& p) { p.set_update(proto::Strategy::PER_PACK); });
    }
    if (!s.compression && scenario_.plan.bytes() > Bytes()) {
      with("gradients travel as float16 (strategy.compression)",
           [](proto::Strategy& p) { p.mutable_compression()->set_type(proto::FLOAT16); });
    }
  }

  void add_hosts() {
    const auto& network = scenario_.cluster->network();
    if (!network || !network->host || message_.cluster().has_file()) return;
    proto::Scenario message = message_;
    message.mutable_cluster()->mutable_network()->mutable_host_transport()->set_library(
        proto::HostTransport::OFF);
    add("hosts add no overhead to messages (network.host_transport.library: OFF)", message);
  }

  void add_interference(const Summary& summary) {
    const auto parts = summary.steady_parts();
    if (!parts || parts->slowed <= Time()) return;
    proto::Scenario message = message_;
    message.mutable_run()->set_interference(proto::Run::OFF);
    add("communication does not slow computation (run.interference: OFF)", message);
  }

  WhatIfs take() { return std::move(made_); }

 private:
  const proto::Scenario& message_;
  const Scenario& scenario_;
  WhatIfs made_;
};

}  // namespace

Expected<WhatIfs> what_ifs(const Scenario& scenario, const Summary& summary,
                           const Library& library) {
  const auto message = scenario_message(scenario.text, scenario.file);
  if (!message) return tl::make_unexpected(message.error());
  const auto figures = ClusterFigures::of(scenario.text, scenario.file, library);
  if (!figures) return tl::make_unexpected(figures.error());
  WhatIfMaker maker(**message, scenario);
  maker.add_figures(*figures);
  maker.add_computation(summary);
  maker.add_strategy();
  maker.add_hosts();
  maker.add_interference(summary);
  return maker.take();
}

Expected<std::string> with_scaled_links(const Scenario& scenario, Scaled what, double factor,
                                        const Library& library) {
  const auto message = scenario_message(scenario.text, scenario.file);
  if (!message) return tl::make_unexpected(message.error());
  const auto figures = ClusterFigures::of(scenario.text, scenario.file, library);
  if (!figures) return tl::make_unexpected(figures.error());
  std::vector<double> values;
  for (const ClusterFigure& figure : figures->list()) {
    const bool bandwidth = figure.kind == ClusterFigure::Kind::kRate &&
                           figure.name.find(".bandwidth") != std::string::npos;
    const bool latency = figure.kind == ClusterFigure::Kind::kLatency;
    const bool scales = what == Scaled::kBandwidth ? bandwidth : latency;
    values.push_back(scales ? std::clamp(figure.before * factor, figure.least, figure.most)
                            : figure.before);
  }
  figures->put(values, **message);
  std::string text;
  google::protobuf::TextFormat::PrintToString(**message, &text);
  return text;
}

}  // namespace tutti::core
