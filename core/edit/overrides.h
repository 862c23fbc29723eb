#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/tf_config.h"
#include "core/edit/scenario_text.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A field of a scenario, and what it is to be instead of what its text says.
struct Override {
  FieldPath path;     ///< as it was said, which may be in an older form: present_path() says where it is
  std::string value;  ///< as it is typed: strings without quotes; "": the field is not written
  std::string said;   ///< what errors call it: "--set strategy.shards=4"
};

/// "strategy.shards=4", "cluster.workers[1].machine=dgx-a100", "strategy.bytes_per_pack=" (not written). Elements of lists are
/// counted from 0, which may be left out. `option`: what it was given with.
/// ERRORS (requests): no '='; an index that is no number; the scenario's schema has no such field, or it is a message.
Expected<Override> parse_override(const std::string& option, const std::string& written);

/// What the scenario's schema says of a field, which may be in an older form; null if it has none there.
const FieldType* field_type(const FieldPath& path);

/// Reads a scenario with fields changed, one after the other. Its text is the changed one, remarks and all else as they were.
/// A text of an older form is brought into today's first. ERRORS: those of read_scenario(), at their places in `text`; what is wrong with
/// a changed value is said of the override. An element that is not there and not the next one. Two fields that exclude each other.
Expected<Scenario> read_scenario(const std::string& text, const std::string& path, const Library& library,
                                 const std::vector<Override>& overrides);

/// The number of workers that a cluster of one kind of worker gets if it is TF_CONFIG's: chief and workers; and that of its
/// servers, if TF_CONFIG has some. Of a cluster of several kinds, or one in a file of its own, nothing: see check_workers(). REQUIRES: someone trains in `cluster`.
std::vector<Override> workers_of(const ClusterSpec& cluster, const std::string& text);
/// ERRORS (a request): the scenario has another number of workers than TF_CONFIG.
Expected<void> check_workers(const ClusterSpec& cluster, const Scenario& scenario);

}  // namespace tutti::core
