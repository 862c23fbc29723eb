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

/// A cluster in a separate file, which a scenario names by `cluster { file: … }`. `tutti calibrate`
/// writes such files.
struct ClusterFile {
  std::string path;
  std::unique_ptr<proto::Cluster> message;
  SourceMap sources;

  explicit ClusterFile(const std::string& file);
  ClusterFile(ClusterFile&&) noexcept;
  ClusterFile& operator=(ClusterFile&&) noexcept;
  ~ClusterFile();
};

/// Reads the file that `cluster` names, relative to the folder of `from`, and adds it to `files`.
/// Returns nullopt and adds problems if the file cannot be read or is invalid, or if `cluster` also
/// has fields that the file must set.
std::optional<ClusterFile> load_cluster_file(const proto::Cluster& cluster, Fields& fields,
                                             const std::string& from, const Library& library,
                                             std::vector<Library::File>& files);

/// Returns the cluster that a message describes. Returns null and adds problems if the cluster is
/// invalid. `path` is the file of the message, to which paths of machine files are relative. Adds
/// these files to `files`.
std::shared_ptr<const Cluster> cluster_from(const proto::Cluster& message, Fields& fields,
                                            const std::string& path, const Library& library,
                                            std::vector<Library::File>& files);

/// Adds a file that a scenario names, unless `files` already has it.
void remember(const Library::File& file, std::vector<Library::File>& files);

/// Reports that no `what` (such as "machine") has this name, and suggests a similar name from
/// `known`.
void complain_unknown(Fields& fields, const google::protobuf::Message& message, const char* field,
                      const char* what, const std::string& name,
                      const std::vector<std::string>& known);

}  // namespace tutti::core
