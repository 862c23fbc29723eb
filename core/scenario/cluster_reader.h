#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/scenario/library.h"
#include "core/text/fields.h"

namespace google::protobuf {
class Message;
}

namespace tutti::proto {
class Cluster;
}

namespace tutti::core {

/// A cluster file, which a scenario names by `cluster { file: … }`. `tutti calibrate` writes such
/// files.
struct ClusterFile {
  std::string path;
  std::unique_ptr<proto::Cluster> message;
  SourceMap sources;

  explicit ClusterFile(const std::string& file);
  ClusterFile(ClusterFile&&) noexcept;
  ClusterFile& operator=(ClusterFile&&) noexcept;
  ~ClusterFile();
};

/// Reads the file that `cluster` names, and adds it to `files`. The path is relative to the folder
/// of `from`. If the file cannot be read or is invalid, or if `cluster` sets fields that belong to
/// the file, adds problems and returns nullopt.
std::optional<ClusterFile> load_cluster_file(const proto::Cluster& cluster, Fields& fields,
                                             const std::string& from, const Library& library,
                                             std::vector<Library::File>& files);

/// Builds the cluster that a message describes. If the cluster is invalid, adds problems and
/// returns null. `path` is the file that contains the message; paths in the message are relative to
/// the folder of this file. Adds the files that the message names to `files`.
std::shared_ptr<const Cluster> cluster_from(const proto::Cluster& message, Fields& fields,
                                            const std::string& path, const Library& library,
                                            std::vector<Library::File>& files);

/// Adds `file`, which a scenario names, to `files`, unless `files` already contains this file.
void remember(const Library::File& file, std::vector<Library::File>& files);

/// Reports that there is no `what` (such as "machine") with the name `name`. If `known` contains a
/// similar name, suggests the similar name.
void complain_unknown(Fields& fields, const google::protobuf::Message& message, const char* field,
                      const char* what, const std::string& name,
                      const std::vector<std::string>& known);

}  // namespace tutti::core
