#include "core/scenario/written_scenario.h"

#include "core/framework/registry.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {

WrittenScenario::WrittenScenario(const std::string& file)
    : path(file),
      sources(file),
      fields(sources, problems),
      complaints(places, problems),
      message(std::make_unique<proto::Scenario>()),
      guests(framework_messages()) {}

WrittenScenario::~WrittenScenario() = default;

const proto::Cluster& WrittenScenario::cluster() const {
  return cluster_file ? *cluster_file->message : message->cluster();
}

Fields WrittenScenario::cluster_fields() {
  return {cluster_file ? cluster_file->sources : sources, problems};
}

}  // namespace tutti::core
