#include "core/scenario/nccl_reader.h"

#include "core/cluster/transport.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {

NcclOptions nccl_options_from(const proto::Nccl& message, Fields& fields) {
  NcclOptions options;
  const auto wrong = [&](const char* field, ProblemCode code, const std::string& text) {
    fields.complain_at(message, field, code, "strategy: nccl: {}", text);
  };
  const auto wrong_in = [&](const char* field, const Error& error) {
    wrong(field, error.problems().front().kind.code, error.problems().front().text);
  };
  if (!message.version().empty()) {
    const auto version = nccl::parse_version(message.version());
    if (!version) {
      wrong_in("version", version.error());
      return options;  // nobody knows what another release makes of the variables
    }
    options.version = *version;
  }
  for (const std::string& one : message.set()) {
    const auto equals = one.find('=');
    if (equals == std::string::npos || !one.starts_with("NCCL_")) {
      wrong("set", ProblemCode::kUnknownName,
            fmt::format("set: \"{}\" is not an NCCL variable, such as NCCL_ALGO=Ring", one));
      return options;
    }
    options.variables.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  if (auto settings = nccl::read_settings(options.variables, options.version)) {
    options.settings = std::move(*settings);
    if (options.settings.p2p_disabled.value_or(false) ||
        options.settings.shm_disabled.value_or(false))
      wrong("set", ProblemCode::kUnsupported,
            "NCCL_P2P_DISABLE and NCCL_SHM_DISABLE change the paths between GPUs, which the "
            "simulation of packs does not model; remove them (tutti perf --cluster predicts their "
            "times)");
  } else {
    wrong_in("set", settings.error());
  }
  if (message.network().empty()) return options;
  options.transport = message.network();
  if (!parse_transport(message.network()))
    wrong("network", ProblemCode::kUnknownName,
          fmt::format("network: \"{}\" is unknown; expected one of {}", message.network(),
                      transport_names()));
  return options;
}

}  // namespace tutti::core
