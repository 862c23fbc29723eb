#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/tf_config.h"
#include "core/edit/scenario_text.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A field of a scenario, and the value that replaces the one in its text.
struct Override {
  FieldPath path;     ///< as given, maybe in an older form: see present_path()
  std::string value;  ///< as typed: strings without quotes; "": the field is not written
  std::string said;   ///< name in error messages, such as "--set strategy.shards=4"
};

/// Parses an override: "strategy.shards=4", "cluster.workers[1].machine=dgx-a100",
/// "strategy.bytes_per_pack=" (not written). Elements of lists are counted from 0; [0] may be
/// omitted. `option`: the option's name.
/// ERRORS (requests): no '='; an index that is not a number; the scenario's schema has no such
/// field, or it is a message.
Expected<Override> parse_override(const std::string& option, const std::string& written);

/// Returns the type of a field, whose path may be in an older form; null if the scenario's schema
/// has none.
const FieldType* field_type(const FieldPath& path);

/// Reads a scenario after overriding fields, one after the other. Its text is the changed one, with
/// comments and everything else preserved. A text of an older form is first converted to the
/// current one.
/// ERRORS: those of read_scenario(), at their locations in `text`; problems with a changed value
/// name the override; an index beyond the next element; two fields that exclude each other.
Expected<Scenario> read_scenario(const std::string& text, const std::string& path,
                                 const Library& library, const std::vector<Override>& overrides);

/// Returns overrides that set the number of workers (chief and workers) of a cluster with one kind
/// of worker to TF_CONFIG's, and the number of servers if TF_CONFIG has some. For a cluster of
/// several kinds, or one in a separate file, returns none: see check_workers(). REQUIRES: `cluster`
/// has a chief or workers.
std::vector<Override> workers_of(const ClusterSpec& cluster, const std::string& text);
/// Checks the number of workers. ERRORS (a request): it differs from TF_CONFIG's.
Expected<void> check_workers(const ClusterSpec& cluster, const Scenario& scenario);

}  // namespace tutti::core
