#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/tf_config.h"
#include "core/edit/scenario_text.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// An override of a scenario: a field, and a new value that replaces the field's value in the text.
struct Override {
  FieldPath path;     ///< path as the user wrote it, possibly in an older form (present_path())
  std::string value;  ///< value as the user typed it (strings without quotes); an empty value
                      ///< removes the field
  std::string label;  ///< name in error messages, such as "--set strategy.shards=4"
};

/// Parses an override: "strategy.shards=4", "cluster.workers[1].machine=dgx-a100", or
/// "strategy.bytes_per_pack=" (removes the field). Elements of lists are counted from 0; [0] may be
/// omitted. Error messages name the override by `option`, the command-line option in which it was
/// written. ERRORS (requests): there is no '='; an index is not a number; the schema has no such
/// field; the field is a message and the value is not "{}".
Expected<Override> parse_override(const std::string& option, const std::string& written);

/// Returns the type of a field; null if the schema has no such field. The path may be that of an
/// older form of scenarios.
const FieldType* field_type(const FieldPath& path);

/// Applies the overrides to the text, in order, and reads the resulting scenario. Scenario::text is
/// the changed text, in which comments and all other fields are preserved. A text of an older form
/// is first converted to the current form. ERRORS: as for read_scenario(), with locations in `text`
/// or with the name of the override that caused the problem; an index is beyond the end of a list;
/// one override would remove a field that another override sets.
Expected<Scenario> read_scenario(const std::string& text, const std::string& path,
                                 const Library& library, const std::vector<Override>& overrides);

/// Returns overrides for the scenario `text`. The number of workers becomes the number of tasks
/// that TF_CONFIG lists for the jobs chief and worker. If TF_CONFIG has the job ps, the number of
/// servers becomes the number of this job's tasks. The number of workers (or of servers) is not
/// overridden if the scenario has several groups of workers (or of servers), or if its cluster is
/// in a separate file. check_workers() then compares the numbers of workers. REQUIRES: `cluster`
/// has a chief or workers.
std::vector<Override> workers_of(const ClusterSpec& cluster, const std::string& text);
/// Returns the override that sets the number of workers (without servers) in the scenario `text`;
/// empty if the scenario has several groups of workers, or if its cluster is in a separate file.
/// `label` is the name of the override in errors.
std::vector<Override> workers_for(std::int64_t workers, const std::string& text,
                                  const std::string& label);
/// Checks that the scenario and TF_CONFIG have the same number of workers. ERRORS (a request): the
/// numbers differ.
Expected<void> check_workers(const ClusterSpec& cluster, const Scenario& scenario);

}  // namespace tutti::core
