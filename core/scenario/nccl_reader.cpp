#include "core/scenario/nccl_reader.h"

#include <filesystem>

#include "core/cluster/transport.h"
#include "core/nccl/ofi_plugin.h"
#include "core/nccl/tuner/aws_tuner.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {
namespace {

/// Reads the tuner plugin. Paths in the message are relative to the folder of `path`, the file with
/// the message.
void read_tuner(const proto::Nccl& message, Fields& fields, const std::string& path,
                NcclOptions& options) {
  const bool aws = message.tuner() == proto::Nccl::AWS_OFI;
  const bool file = message.tuner() == proto::Nccl::FILE;
  if (aws) options.tuner = NcclOptions::Tuner::kAwsOfi;
  if (file) options.tuner = NcclOptions::Tuner::kFile;
  options.tuner_at = fields.sources().at(message, file ? "tuner_file" : "tuner");
  const auto wrong = [&](const char* field, ProblemCode code, const std::string& text) {
    fields.complain_at(message, field, code, "strategy: nccl: {}", text);
  };
  if (!message.tuner_file().empty() && !file)
    wrong("tuner_file", ProblemCode::kUnused, "tuner_file needs tuner: FILE");
  if (!message.instance().empty() && !aws)
    wrong("instance", ProblemCode::kUnused, "instance needs tuner: AWS_OFI");
  if (file && message.tuner_file().empty())
    wrong("tuner", ProblemCode::kMissing,
          "tuner: FILE needs tuner_file; create such a table with tutti tune --emit nccl-tuner");
  if (!message.instance().empty() && !nccl::parse_ec2(message.instance()))
    wrong("instance", ProblemCode::kUnknownName,
          fmt::format("instance: aws-ofi-nccl has no table for \"{}\"; there are tables for {}",
                      message.instance(), nccl::ec2_names()));
  options.instance = message.instance();
  if (!file) return;
  const std::filesystem::path table(message.tuner_file());
  const auto folder = std::filesystem::path(path).parent_path();
  options.tuner_file = table.is_absolute() ? table.string() : (folder / table).string();
}

/// Reads the setting that says how the program has registered its buffers.
void read_buffers(const proto::Nccl& message, Fields& fields, NcclOptions& options) {
  if (message.buffers() == proto::Nccl::REGISTERED)
    options.settings.buffers = nccl::Buffers::kRegistered;
  if (message.buffers() == proto::Nccl::SYMMETRIC)
    options.settings.buffers = nccl::Buffers::kSymmetric;
  if (options.settings.buffers == nccl::Buffers::kSymmetric &&
      options.version < nccl::kSymmetricKernels)
    fields.complain_at(message, "buffers", ProblemCode::kConflict,
                       "strategy: nccl: buffers: SYMMETRIC needs NCCL 2.27 or later, not {}",
                       to_string(options.version));
}

}  // namespace

NcclOptions nccl_options_from(const proto::Nccl& message, Fields& fields, const std::string& path) {
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
      return options;  // other releases may treat the variables differently
    }
    options.version = *version;
  }
  for (const std::string& one : message.set()) {
    const auto equals = one.find('=');
    if (equals == std::string::npos || !one.starts_with("NCCL_")) {
      wrong("set", ProblemCode::kUnknownName,
            fmt::format("set: \"{}\" does not set an NCCL variable; expected NAME=VALUE, such as "
                        "NCCL_ALGO=Ring",
                        one));
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
  read_buffers(message, fields, options);
  read_tuner(message, fields, path, options);
  if (!message.ofi_plugin().empty()) {
    if (const auto release = nccl::parse_ofi_plugin(message.ofi_plugin()))
      options.ofi_plugin = *release;
    else
      wrong_in("ofi_plugin", release.error());
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
