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

/// A cluster in a file of its own, as a scenario's `cluster { file: … }` names it; written by
/// `tutti calibrate`.
struct ClusterFile {
  std::string path;
  std::unique_ptr<proto::Cluster> message;
  SourceMap sources;

  explicit ClusterFile(const std::string& file);
  ClusterFile(ClusterFile&&) noexcept;
  ClusterFile& operator=(ClusterFile&&) noexcept;
  ~ClusterFile();
};

/// The file that `cluster` names, relative to the folder of `from`; added to `files`. Nothing, and
/// problems, if it cannot be read, holds mistakes, or if `cluster` says more than the file.
std::optional<ClusterFile> load_cluster_file(const proto::Cluster& cluster, Fields& fields,
                                             const std::string& from, const Library& library,
                                             std::vector<Library::File>& files);

/// The cluster that a message describes; null, and problems, if it makes no sense. `path` is where
/// the message was written: the paths of machine files, which are added to `files`, start from
/// there.
std::shared_ptr<const Cluster> cluster_from(const proto::Cluster& message, Fields& fields,
                                            const std::string& path, const Library& library,
                                            std::vector<Library::File>& files);

/// Adds a file that a scenario names, once.
void remember(const Library::File& file, std::vector<Library::File>& files);

/// Says that `field` names nothing that is there, and what it may have stood for.
void complain_unknown(Fields& fields, const google::protobuf::Message& message, const char* field,
                      const char* what, const std::string& name,
                      const std::vector<std::string>& known);

}  // namespace tutti::core
